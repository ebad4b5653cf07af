package dev.weir.engine.internal.matching;

import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.Rule;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The refund of a request, one charge after the other. */
public final class Refund {
  /*
   * Which permits are given back? The request is matched once more, by the rules in force now, and
   * only those charges are given back whose limit is still the one of the answer: the worth of a
   * permit depends on it. They are given back in the reverse order of the charges, because a bucket
   * takes back all of a charge only if it is its latest.
   */

  private final PendingRequest pending;
  private final Answer answer;
  private final Store store;
  private final LongConsumer done;
  private long given;

  /**
   * Creates the refund of a request.
   *
   * @param pending the answered request, matched again
   */
  public Refund(PendingRequest pending, Answer answer, Store store, LongConsumer done) {
    this.pending = pending;
    this.answer = answer;
    this.store = store;
    this.done = done;
  }

  public void give() {
    boolean charged =
        answer.allowed()
            && !answer.shadowed()
            && pending.problem() == null
            && answer.statuses().size() == pending.size();
    give(charged ? pending.size() - 1 : -1);
  }

  /** Gives back the charge of descriptor {@code i}, and then those before it. */
  private void give(int i) {
    int at = i;
    while (at >= 0 && !isCharged(at)) {
      at--;
    }
    CurrentLimit limit = at < 0 ? null : pending.limit(at);
    Decision decision = at < 0 ? null : answer.statuses().get(at).decision();
    if (limit == null || decision == null) {
      done.accept(given);
      return;
    }
    int next = at - 1;
    Charges charges = pending.charges();
    int charge = pending.charge(at);
    store.refund(
        charges.binding(charge),
        charges.fingerprint(charge),
        charges.permits(charge),
        limit.policy().unthrottled(decision),
        pending.nowNanos(),
        permits -> {
          given += permits;
          give(next);
        });
  }

  private boolean isCharged(int i) {
    Status status = answer.statuses().get(i);
    CurrentLimit limit = pending.limit(i);
    Decision decision = status.decision();
    if (limit == null || decision == null || status.currentLimit() == null) {
      return false;
    }
    return decision.allowed()
        && limit.policy().unthrottled(decision).reason() == Reason.WITHIN_LIMIT
        && pending.charges().permits(pending.charge(i)) > 0
        && sameStore(status.rule(), pending.bound(i))
        && worthTheSame(limit.policy(), status.currentLimit().policy());
  }

  private static boolean sameStore(@Nullable Rule rule, @Nullable BoundRule bound) {
    if (rule == null || bound == null) {
      return rule == null && bound == null; // All limits that requests bring are in one store.
    }
    return rule.store() == bound.rule.store();
  }

  /** Returns whether a permit is the same under both policies, and counts for the same keys. */
  private static boolean worthTheSame(Policy a, Policy b) {
    return a == b
        || (a.name().equals(b.name())
            && a.quota().equals(b.quota())
            && a.burst() == b.burst()
            && a.algorithm() == b.algorithm()
            && a.enforced().burst() == b.enforced().burst()
            && a.sharing().equals(b.sharing()));
  }
}
