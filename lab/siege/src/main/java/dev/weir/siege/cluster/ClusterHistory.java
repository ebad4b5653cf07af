package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.soak.Admissions;
import dev.weir.testkit.WindowChecker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** The history of the answers to a cluster's clients. Safe for use by many threads. */
final class ClusterHistory {
  /**
   * The time for which answers are kept: older ones share no window with requests that are still
   * unanswered.
   */
  private static final Duration KEPT = ClusterRules.STRICT.window().plus(Guest.PATIENCE);

  /**
   * The result of checking the answers since the last check.
   *
   * @param admitted the admitted requests of the judged rules
   * @param refused the requests that were refused by the limit, or by a protocol without reasons
   * @param uncertain the requests that were answered without a decision
   * @param unanswered the requests without an answer
   * @param gapNanos the longest time in which no admission arrived
   * @param excess the permits beyond the limit that some window certainly holds, by rule
   */
  record Judgement(
      long admitted,
      long refused,
      long uncertain,
      long unanswered,
      long gapNanos,
      Map<SiegeRule, Long> excess) {}

  private final Accounts accounts = new Accounts();
  private final Admissions admissions = new Admissions(KEPT.multipliedBy(2));

  // All of these are guarded by this object's lock.
  private long admitted;
  private long refused;
  private long uncertain;
  private long unanswered;
  private long latestNanos = System.nanoTime();
  private long gapNanos;

  /** Records permits that are about to be requested. */
  void requested(SiegeRule rule, String key, int permits) {
    if (rule.equals(ClusterRules.ACCOUNT)) {
      accounts.requested(key, permits);
    }
  }

  /** Returns the permits requested and admitted by {@link ClusterRules#ACCOUNT}. */
  Accounts accounts() {
    return accounts;
  }

  /** Records an answer. */
  synchronized void answered(
      SiegeRule rule, String key, int permits, long startNanos, Guest.Answer answer) {
    long now = System.nanoTime();
    if (answer.allowed()) {
      if (rule.equals(ClusterRules.ACCOUNT)) {
        accounts.admitted(key, permits);
      } else {
        admissions.add(rule, key, permits, startNanos, now);
      }
      if (answer.reason().equals(Guest.Answer.WITHIN_LIMIT)) {
        admitted++;
        gapNanos = Math.max(gapNanos, now - latestNanos);
        latestNanos = now;
      }
    } else if (answer.reason().equals(Guest.Answer.OVER_LIMIT)
        || answer.reason().equals(Guest.Answer.REFUSED)) {
      refused++;
    } else {
      uncertain++;
    }
  }

  /** Records that no answer has arrived, which admits nothing. */
  synchronized void unanswered() {
    unanswered++;
  }

  /** Judges the answers so far, and begins anew. Windows over both parts are judged too. */
  synchronized Judgement judge() {
    long now = System.nanoTime();
    gapNanos = Math.max(gapNanos, now - latestNanos);
    Map<SiegeRule, Long> excess = new HashMap<>();
    admissions.check(
        (rule, all) ->
            excess.put(
                rule, WindowChecker.certainExcess(all, rule.window().toNanos(), rule.permits())));
    Judgement judgement = new Judgement(admitted, refused, uncertain, unanswered, gapNanos, excess);
    admitted = 0;
    refused = 0;
    uncertain = 0;
    unanswered = 0;
    gapNanos = 0;
    latestNanos = now;
    return judgement;
  }
}
