package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Ticker;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A client that requests permits from stores of a cluster, one request after the other, and checks
 * how many are admitted.
 *
 * <p>If a machine stands still for a second, its members elect another leader. Requests at that
 * time may or may not be charged; so requests without a decision are repeated, and each of them may
 * be missing from the admitted permits of its key from then on.
 */
final class Asker {
  private static final Policy PLENTY = Policy.of(Quota.of(1 << 20, Duration.ofSeconds(1)));

  /**
   * The most requests without a decision: they are made one at a time, so an election leaves one or
   * two of them.
   */
  private static final int MOST_UNDECIDED = 5;

  private final Map<String, Integer> undecided = new HashMap<>();

  /** Requests a permit from a store; returns the answer. */
  static Charges request(ClusterStore store, String rule, Policy policy, String key) {
    Binding binding = store.bind(rule, policy, 0);
    Charges asked = new Charges().add(binding, store.fingerprint().of(key), 1);
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(asked, Ticker.system().nanos(), answer::complete);
    return answer.join();
  }

  private static boolean decided(Charges answer) {
    return answer.reason(0) != Reason.UNCERTAIN;
  }

  /** Waits until a store decides a key. */
  static void awaitDecision(ClusterStore store, String key) throws Exception {
    Await.until(
        () -> "a decision of " + key + "; " + store.problem(),
        () -> decided(request(store, "awaited", PLENTY, key)));
  }

  /**
   * Makes requests at the stores in turn until that many are decided; returns the number of
   * admitted ones.
   *
   * @param by at least one
   */
  int admitted(
      Collection<? extends ClusterStore> by, String rule, Policy policy, String key, int requests)
      throws Exception {
    List<ClusterStore> stores = List.copyOf(by);
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      ClusterStore store = stores.get(i % stores.size());
      Charges answer = request(store, rule, policy, key);
      while (!decided(answer)) {
        undecided.merge(rule + " " + key, 1, Integer::sum);
        awaitDecision(store, key);
        answer = request(store, rule, policy, key);
      }
      admitted += answer.allowed() ? 1 : 0;
    }
    return admitted;
  }

  /** Returns the number of requests for a key that were not decided so far. */
  int undecided(String rule, String key) {
    return undecided.getOrDefault(rule + " " + key, 0);
  }

  /**
   * Makes requests at the stores in turn until that many are decided, and checks the number of
   * admitted ones.
   */
  void admits(
      int expected,
      Collection<? extends ClusterStore> by,
      String rule,
      Policy policy,
      String key,
      int requests)
      throws Exception {
    int admitted = admitted(by, rule, policy, key, requests);
    assertThat(undecided(rule, key))
        .as("requests of %s %s that nobody decided", rule, key)
        .isLessThanOrEqualTo(MOST_UNDECIDED);
    assertThat(admitted)
        .as("%s %s, %d of which nobody decided", rule, key, undecided(rule, key))
        .isBetween(Math.max(0, expected - undecided(rule, key)), expected);
  }

  /**
   * Does the same as {@link #admits(int, Collection, String, Policy, String, int)} with one store.
   */
  void admits(int expected, ClusterStore by, String rule, Policy policy, String key, int requests)
      throws Exception {
    admits(expected, List.of(by), rule, policy, key, requests);
  }
}
