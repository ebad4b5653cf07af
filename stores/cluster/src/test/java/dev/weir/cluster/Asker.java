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
 * Asks stores of a cluster for permits, one request after the other, and judges how many are
 * admitted.
 *
 * <p>A machine that stands still for a second has its members elect another leader. What is asked
 * meanwhile may be charged or not; so requests that nobody has decided are asked again, and each of
 * them may lack among what is admitted of its key from then on.
 */
final class Asker {
  private static final Policy PLENTY = Policy.of(Quota.of(1 << 20, Duration.ofSeconds(1)));

  /** One request at a time is asked, so an election leaves one or two of them undecided. */
  private static final int MOST_UNDECIDED = 5;

  private final Map<String, Integer> undecided = new HashMap<>();

  /** Asks a store for a permit; returns the answer. */
  static Charges ask(ClusterStore store, String rule, Policy policy, String key) {
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
        () -> decided(ask(store, "awaited", PLENTY, key)));
  }

  /**
   * Asks stores in turn until so many requests are decided; returns how many were admitted.
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
      Charges answer = ask(store, rule, policy, key);
      while (!decided(answer)) {
        undecided.merge(rule + " " + key, 1, Integer::sum);
        awaitDecision(store, key);
        answer = ask(store, rule, policy, key);
      }
      admitted += answer.allowed() ? 1 : 0;
    }
    return admitted;
  }

  /** Returns how many requests for a key were not decided so far. */
  int undecided(String rule, String key) {
    return undecided.getOrDefault(rule + " " + key, 0);
  }

  /** Asks stores in turn until so many requests are decided, of which so many must be admitted. */
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

  /** As {@link #admits(int, Collection, String, Policy, String, int)}, by one store. */
  void admits(int expected, ClusterStore by, String rule, Policy policy, String key, int requests)
      throws Exception {
    admits(expected, List.of(by), rule, policy, key, requests);
  }
}
