package dev.weir.engine;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.rules.Rule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one descriptor.
 *
 * @param allowed whether the request may pass as far as this descriptor is concerned
 * @param rule the rule that matched, or null if none did, if it was replaced, or if the request
 *     brought a limit of its own
 * @param decision the decision on this descriptor alone, or null if nothing limits it
 * @param currentLimit the limit, or null if nothing limits it
 * @param limitRemaining permits left, 0 to 4294967295; the latter if a rule is unlimited, even if
 *     it was replaced
 * @param durationUntilResetSeconds if something limits it: the time until a refused request would
 *     pass, the length of the window if it never will, or else the reset-after; rounded up, at
 *     least 1. Otherwise 0
 */
public record Status(
    boolean allowed,
    @Nullable Rule rule,
    @Nullable Decision decision,
    @Nullable CurrentLimit currentLimit,
    long limitRemaining,
    long durationUntilResetSeconds) {

  public Status {
    limitRemaining = Math.max(0, limitRemaining); // A debt leaves none.
  }

  /** The value of {@code limitRemaining} if there is no limit. */
  public static final long UNLIMITED = (1L << 32) - 1;

  private static final long SECOND_NANOS = 1_000_000_000L;

  public static final Status UNMATCHED = new Status(true, null, null, null, 0, 0);

  /** The status for a rule without a limit that another one has replaced. */
  public static final Status UNLIMITED_REPLACED = new Status(true, null, null, null, UNLIMITED, 0);

  /**
   * Returns the nanoseconds for {@link #durationUntilResetSeconds}, not rounded; 0 if nothing
   * limits the descriptor.
   */
  public long untilResetNanos() {
    if (decision == null || currentLimit == null) {
      return 0;
    }
    long retry = decision.retryAfterNanos();
    return decision.allowed()
        ? decision.resetAfterNanos()
        : retry == Decision.NEVER ? currentLimit.policy().quota().windowNanos() : retry;
  }

  /** Returns the answer to a descriptor that matches a rule without a limit. */
  public static Status withoutLimit(Rule rule) {
    return new Status(true, rule, null, null, rule.unlimited() ? UNLIMITED : 0, 0);
  }

  /** Returns the answer to a descriptor whose subject has no limit by the rule that it matches. */
  public static Status unlimited(Rule rule) {
    return new Status(true, rule, null, null, UNLIMITED, 0);
  }

  /** Returns how many permits are counted beyond the limit after a report of costs; 0 if none. */
  public long debt() {
    return decision == null ? 0 : Math.max(0, -decision.remaining());
  }

  /**
   * Returns the reason for the outcome: {@link Reason#NO_LIMIT} if nothing limits the descriptor.
   */
  public Reason reason() {
    return decision == null ? Reason.NO_LIMIT : decision.reason();
  }

  /** Returns the cause of {@link Reason#UNCERTAIN}, as {@link Decision#cause()}. */
  public String cause() {
    return decision == null ? "" : decision.cause();
  }

  /** Returns a decision that admits a refused request. */
  public static Decision allowed(Decision denied, Reason reason, long remaining) {
    return new Decision(
        true,
        reason,
        reason == denied.reason() ? denied.cause() : "",
        denied.policy(),
        denied.limit(),
        remaining,
        0,
        denied.resetAfterNanos(),
        denied.atNanos(),
        List.of());
  }

  /**
   * Returns the whole seconds for {@link #durationUntilResetSeconds}. A request that can never fit
   * gets the whole window: no wait helps it, and after a short one its client would repeat it again
   * and again.
   *
   * @param decision the decision before a shadow or another exception lets it pass
   * @param passes whether a refusal passes all the same, as a shadow does
   */
  public static long untilReset(Decision decision, boolean passes, Policy policy) {
    return untilReset(
        !decision.allowed(),
        passes,
        decision.retryAfterNanos(),
        decision.resetAfterNanos(),
        policy);
  }

  /**
   * Returns the whole seconds as {@link #untilReset(Decision, boolean, Policy)} does, for a
   * decision in its parts.
   */
  static long untilReset(
      boolean refused, boolean passes, long retryAfterNanos, long resetAfterNanos, Policy policy) {
    long nanos =
        refused && retryAfterNanos == Decision.NEVER
            ? policy.quota().windowNanos()
            : refused && !passes ? retryAfterNanos : resetAfterNanos;
    return Math.max(1, ceilSeconds(nanos));
  }

  private static long ceilSeconds(long nanos) {
    return nanos / SECOND_NANOS + (nanos % SECOND_NANOS > 0 ? 1 : 0);
  }
}
