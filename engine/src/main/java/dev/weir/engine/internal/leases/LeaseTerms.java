package dev.weir.engine.internal.leases;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.Status;
import dev.weir.engine.internal.matching.Revision;
import dev.weir.rules.Rule;

/** The rules of lending: how many permits of a limit may be lent, and for how long. */
public final class LeaseTerms {
  /** The divisor for permits ahead: one lease takes at most this part of the remaining permits. */
  private static final long PART_OF_REMAINING = 4;

  /** The most permits of one lease beyond those wanted at once. */
  static final long MOST_AHEAD = 1 << 20;

  /** The longest time for which a refusal is repeated, so that a raised limit is noticed. */
  private static final long MOST_REFUSAL_NANOS = 30_000_000_000L;

  /**
   * The longest time for an elastic rule, which refuses only while the load is high: that may
   * change at any time.
   */
  private static final long ELASTIC_REFUSAL_NANOS = 100_000_000L;

  private LeaseTerms() {}

  /** Returns the policy by which a store in this process counts a hard policy. */
  public static Policy counted(Policy hard) {
    try {
      return hard.lent();
    } catch (IllegalArgumentException e) {
      return hard; // A longer window is not possible; then nothing is lent.
    }
  }

  /**
   * Returns whether permits of a limit are lent at all.
   *
   * @param binding the binding that counts them
   */
  public static boolean possible(CurrentLimit limit, Binding binding) {
    Policy policy = limit.policy();
    return policy.sharing().consistency() == Consistency.LEASED
        && limit.queue() == null // A lease would overtake waiting requests.
        && (policy.algorithm().aligned()
            || binding.store().countsLent()
            || longerNanos(policy, binding) > 0);
  }

  /** Returns by how much the binding's window is longer than the policy's. */
  private static long longerNanos(Policy policy, Binding binding) {
    return binding.policy().quota().windowNanos() - policy.quota().windowNanos();
  }

  /**
   * Returns for how long, in nanoseconds, permits may be spent after they were charged; 0 if only
   * at once.
   *
   * @param atNanos the instant at which they were charged
   */
  public static long lifeNanos(CurrentLimit limit, Binding binding, long atNanos) {
    Policy policy = limit.policy();
    long life = policy.lentNanos(atNanos);
    return policy.algorithm().aligned() || binding.store().countsLent()
        ? life
        : Math.min(life, longerNanos(policy, binding));
  }

  /** Returns how many permits are lent of those that a client wants ahead. */
  public static long ahead(Status status, long wanted) {
    Decision decision = status.decision();
    if (decision == null || decision.reason() != Reason.WITHIN_LIMIT) {
      return 0;
    }
    return Math.min(Math.min(wanted, MOST_AHEAD), decision.remaining() / PART_OF_REMAINING);
  }

  /**
   * Returns for how long, in nanoseconds, every request of a client with this descriptor would be
   * refused like this one, if no permits are given back; 0 if that is not certain.
   */
  public static long refusalNanos(Status status, Answer answer, Revision revision) {
    Rule rule = status.rule();
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit != null && limit.policy().algorithm() == Algorithm.CONCURRENCY) {
      return 0; // A seat may be given back at any time.
    }
    if (answer.allowed()
        || status.allowed()
        || rule == null
        || limit == null
        || decision == null
        || decision.reason() != Reason.OVER_LIMIT
        || rule.quotaMode()
        || limit.queue() != null
        || limit.origin().kind() == LimitOrigin.Kind.UNKNOWN
        || revision.mayBeReplaced(rule)) {
      return 0;
    }
    long most = limit.policy().throttle().isElastic() ? ELASTIC_REFUSAL_NANOS : MOST_REFUSAL_NANOS;
    return Math.min(most, decision.retryAfterNanos());
  }
}
