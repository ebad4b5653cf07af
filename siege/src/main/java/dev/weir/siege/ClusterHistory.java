package dev.weir.siege;

import dev.weir.Reason;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What the clients of a cluster were answered. Safe for use by many threads. */
final class ClusterHistory {
  /** What is older can share no window with what is still to be answered. */
  private static final long KEPT_NANOS =
      2 * ClusterRule.STRICT.window().plus(Guest.PATIENCE).toNanos();

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
      Map<ClusterRule, Long> excess) {}

  private final Accounts accounts = new Accounts();

  // All guarded by this.
  private final Map<ClusterRule, List<Operation>> admissions = new EnumMap<>(ClusterRule.class);
  private long admitted;
  private long refused;
  private long uncertain;
  private long unanswered;
  private long latestNanos = System.nanoTime();
  private long gapNanos;

  /** Permits are about to be asked for. */
  void asks(ClusterRule rule, String key, int permits) {
    if (rule == ClusterRule.ACCOUNT) {
      accounts.asked(key, permits);
    }
  }

  /** Returns what was asked for and admitted by {@link ClusterRule#ACCOUNT}. */
  Accounts accounts() {
    return accounts;
  }

  /** An answer has arrived. */
  synchronized void answered(
      ClusterRule rule, String key, int permits, long startNanos, Guest.Answer answer) {
    long now = System.nanoTime();
    if (answer.allowed()) {
      if (rule == ClusterRule.ACCOUNT) {
        accounts.admitted(key, permits);
      } else {
        admissions
            .computeIfAbsent(rule, each -> new ArrayList<>())
            .add(new Operation(key, permits, startNanos, now, true, Reason.WITHIN_LIMIT));
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
    Map<ClusterRule, Long> excess = new EnumMap<>(ClusterRule.class);
    admissions.forEach(
        (rule, all) -> {
          excess.put(
              rule, WindowChecker.certainExcess(all, rule.window().toNanos(), rule.permits()));
          all.removeIf(each -> now - each.endNanos() > KEPT_NANOS);
        });
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
