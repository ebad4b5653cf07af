package dev.weir;

import java.time.Duration;
import java.util.List;

/**
 * The answer to one request for permits. A value: immutable and safe to share.
 *
 * <p>A limiter of several policies answers with one decision on the whole request, and {@link
 * #parts} has each policy's own. A refusal of the whole request has the name, reason and limit of
 * the policy that refuses longest; an admission has those of the policy with the fewest permits
 * left. For both, {@code remaining} is the least that any of the policies has left, {@code
 * retryAfterNanos} the longest wait of those that refuse, and {@code resetAfterNanos} the time
 * until all keys are as if they had never been used.
 *
 * @param allowed whether the request may pass
 * @param reason why
 * @param cause the cause of {@link Reason#UNCERTAIN} in one word, if the store or server that could
 *     not decide gives one: a kind of failure of a shared store, such as {@code timeout}, {@code
 *     subject}, {@code no_rules} or {@code upstream}. Empty for all other reasons
 * @param policy the name of the policy that decided
 * @param limit the most permits the key can hold at once: the quota's permits, or the burst of a
 *     bucket
 * @param remaining permits left after this decision, 0 to {@code limit}, rounded down; negative
 *     after a report of costs that has left a debt ({@link RateLimiter#charge})
 * @param retryAfterNanos 0 if allowed; otherwise the wait after which the same request passes if no
 *     other request comes, exact to the store's resolution (nanoseconds in this process,
 *     microseconds in Redis) and never too short; {@link #NEVER} if the permits can never fit
 * @param resetAfterNanos nanoseconds, counted from {@code atNanos}, until the key is as if it had
 *     never been used, if no request comes
 * @param atNanos the instant for which the permits are counted, on the store's scale, which is the
 *     ticker's in this process and Redis's own clock in Redis: the time of the decision, later if
 *     the permits were reserved for later, or if the key's state was ahead
 * @param parts each policy's own decision, in their order, if there are several; otherwise empty.
 *     An allowed part of a refused request was not charged
 */
public record Decision(
    boolean allowed,
    Reason reason,
    String cause,
    String policy,
    long limit,
    long remaining,
    long retryAfterNanos,
    long resetAfterNanos,
    long atNanos,
    List<Decision> parts) {

  /** The {@link #retryAfterNanos()} of a request that can never pass. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long NANOS_PER_MILLI = 1_000_000L;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /**
   * @throws NullPointerException if reason, cause, policy or parts are null
   */
  public Decision {
    Check.notNull("reason", reason);
    Check.notNull("cause", cause);
    Check.notNull("policy", policy);
    parts = List.copyOf(Check.notNull("parts", parts));
  }

  /** Creates the decision of one policy, without a cause. */
  public Decision(
      boolean allowed,
      Reason reason,
      String policy,
      long limit,
      long remaining,
      long retryAfterNanos,
      long resetAfterNanos,
      long atNanos) {
    this(
        allowed,
        reason,
        "",
        policy,
        limit,
        remaining,
        retryAfterNanos,
        resetAfterNanos,
        atNanos,
        List.of());
  }

  /**
   * Returns whether the request was refused now and can pass later, so that a retry-after is worth
   * sending. If this is false for a refused request, its permits can never fit, and no {@code
   * Retry-After} is right for it.
   */
  public boolean retryable() {
    return !allowed && retryAfterNanos != NEVER;
  }

  /**
   * Returns {@link #retryAfterNanos()} in milliseconds, rounded up; 366 days, the longest window,
   * for {@link #NEVER}.
   */
  public long retryAfterMillis() {
    return ceilDiv(sendable(retryAfterNanos), NANOS_PER_MILLI);
  }

  /**
   * Returns {@link #retryAfterNanos()} in seconds, rounded up, as in the field {@code Retry-After};
   * 366 days, the longest window, for {@link #NEVER}, so that every value can be sent. {@link
   * #retryable} distinguishes the two.
   */
  public long retryAfterSeconds() {
    return ceilDiv(sendable(retryAfterNanos), NANOS_PER_SECOND);
  }

  /**
   * Returns {@link #retryAfterNanos()} as a duration: zero if allowed; 292 years, which is {@link
   * #NEVER}, if neither allowed nor {@link #retryable}.
   */
  public Duration retryAfter() {
    return Duration.ofNanos(retryAfterNanos);
  }

  /** Returns {@link #resetAfterNanos()} in milliseconds, rounded up. */
  public long resetAfterMillis() {
    return ceilDiv(resetAfterNanos, NANOS_PER_MILLI);
  }

  /** Returns {@link #resetAfterNanos()} in seconds, rounded up. */
  public long resetAfterSeconds() {
    return ceilDiv(resetAfterNanos, NANOS_PER_SECOND);
  }

  private static long sendable(long nanos) {
    return nanos == NEVER ? Quota.MAX_WINDOW_NANOS : nanos;
  }

  private static long ceilDiv(long value, long divisor) {
    return value / divisor + (value % divisor > 0 ? 1 : 0);
  }
}
