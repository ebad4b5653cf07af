package dev.weir.cluster;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import java.time.Duration;
import java.util.SplittableRandom;

/** Policies for tests. */
public final class Policies {
  public static final long MICRO = 1_000;
  public static final long MILLI = 1_000_000;
  public static final long SECOND = 1_000_000_000;

  private static final Algorithm[] ALGORITHMS = Algorithm.values();
  private static final Consistency[] CONSISTENCIES = Consistency.values();

  private Policies() {}

  public static Policy of(Algorithm algorithm, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos)).algorithm(algorithm).build();
  }

  public static Policy shared(
      Algorithm algorithm,
      long permits,
      long windowNanos,
      Consistency consistency,
      long intervalNanos) {
    return Policy.builder(new Quota(permits, windowNanos))
        .algorithm(algorithm)
        .sharing(
            Sharing.STRICT.consistency(consistency).syncInterval(Duration.ofNanos(intervalNanos)))
        .build();
  }

  /** Returns any policy: quotas, windows, bursts and granules from all of their ranges. */
  public static Policy any(SplittableRandom random) {
    Algorithm algorithm = ALGORITHMS[random.nextInt(ALGORITHMS.length)];
    long window = Quota.MIN_WINDOW_NANOS << random.nextInt(24);
    window += random.nextLong(window);
    boolean seats = algorithm == Algorithm.CONCURRENCY;
    long most = seats ? Policy.MOST_SEATS : Quota.MAX_PERMITS;
    long permits = random.nextInt(8) == 0 ? most : random.nextLong(2_000);
    Policy.Builder builder = Policy.builder(new Quota(permits, window)).algorithm(algorithm);
    if (algorithm.granular() && random.nextBoolean()) {
      builder.granularity(Duration.ofNanos(window / 8 + random.nextLong(window / 2)));
    }
    if (algorithm.bucket() && random.nextBoolean()) {
      builder.burst(random.nextLong(100));
    }
    Consistency any = CONSISTENCIES[random.nextInt(CONSISTENCIES.length)];
    return builder.sharing(Sharing.STRICT.consistency(seats ? Consistency.STRICT : any)).build();
  }
}
