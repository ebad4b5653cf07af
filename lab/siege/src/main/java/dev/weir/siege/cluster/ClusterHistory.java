package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.soak.Admissions;
import dev.weir.testkit.WindowChecker;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** What the clients of a cluster were answered. Safe for use by many threads. */
final class ClusterHistory {
  /** What is older can share no window with what is still to be answered. */
  private static final Duration KEPT = ClusterRules.STRICT.window().plus(Guest.PATIENCE);

  /**
   * What happened since the last time.
   *
   * @param admitted requests, of the judged rules
   * @param refused requests that were refused by the limit, or by a protocol that does not say why
   * @param uncertain requests that were answered without a decision
   * @param unanswered requests without an answer
   * @param gapNanos the longest time in which no answer that admitted arrived
   * @param excess permits beyond the limit that some window certainly holds, by rule
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

  // All guarded by this.
  private long admitted;
  private long refused;
  private long uncertain;
  private long unanswered;
  private long latestNanos = System.nanoTime();
  private long gapNanos;

  /** Permits are about to be asked for. */
  void asks(SiegeRule rule, String key, int permits) {
    if (rule.equals(ClusterRules.ACCOUNT)) {
      accounts.asked(key, permits);
    }
  }

  /** Returns what was asked for and admitted by {@link ClusterRules#ACCOUNT}. */
  Accounts accounts() {
    return accounts;
  }

  /** An answer has arrived. */
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

  /** No answer has arrived: it admits nothing. */
  synchronized void unanswered() {
    unanswered++;
  }

  /** Judges what has been answered, and begins anew. Windows over both parts are judged too. */
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
