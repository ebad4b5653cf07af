package dev.weir.cluster.sim;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.testkit.Oracle;
import java.util.List;
import java.util.SplittableRandom;

/** A rule of a simulated cluster, which changes its number now and then. */
final class SimRule {
  private static final List<Algorithm> ALGORITHMS = Algorithm.rates();

  final String name;
  final Algorithm algorithm;
  final Consistency consistency;
  final long windowNanos;
  final long intervalNanos;

  /**
   * The number of keys that are requested all the time; as many again and more are, now and then.
   */
  final int hot;

  private long permits;
  private long mostPermits;
  private long leastPermits;

  SimRule(int number, SplittableRandom random) {
    Consistency[] consistencies = Consistency.values();
    consistency = consistencies[number % consistencies.length];
    algorithm =
        random.nextInt(2) == 0
            ? Algorithm.SLIDING_WINDOW_LOG
            : ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
    name = number + "-" + consistency + "-" + algorithm;
    windowNanos = Policies.MILLI * random.nextLong(300, 2_500);
    intervalNanos = windowNanos / random.nextLong(4, 30);
    hot = 1 + random.nextInt(2);
    permits = random.nextLong(1, 25);
    mostPermits = permits;
    leastPermits = permits;
  }

  /** Gives the rule another number. */
  void change(SplittableRandom random) {
    permits = Math.max(1, permits + random.nextLong(-5, 6));
    mostPermits = Math.max(permits, mostPermits);
    leastPermits = Math.min(permits, leastPermits);
  }

  Policy policy() {
    return policy(permits);
  }

  private Policy policy(long some) {
    return Policies.shared(algorithm, some, windowNanos, consistency, intervalNanos);
  }

  /** Returns the most permits that it ever had. */
  long mostPermits() {
    return mostPermits;
  }

  long permits() {
    return permits;
  }

  long fingerprint(int key) {
    return SimCluster.FINGERPRINT.of(name + "/" + key);
  }

  /** Returns the most permits of one key that any window may hold, without unrecorded ones. */
  long bound() {
    return Oracle.bound(policy(mostPermits));
  }

  /** Returns the most permits that a server may admit before it records them. */
  long unrecorded() {
    return Math.max(1, mostPermits * intervalNanos / windowNanos);
  }

  /** Returns the window by which replicas count. */
  long countedNanos() {
    return ClusterPolicy.of(name, policy()).policy().quota().windowNanos();
  }
}
