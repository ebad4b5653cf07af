package dev.weir;

import java.time.Duration;

/**
 * The answer to one request for permits. A value: immutable and safe to share.
 *
 * @param outcome whether the request may pass
 * @param reason why
 * @param policy the name of the policy that decided
 * @param limit the most permits the key can hold at once: the quota's permits, or the burst of a
 *     bucket
 * @param remaining permits left after this decision, 0 to {@code limit}, rounded down
 * @param retryAfterNanos 0 if allowed; otherwise the wait after which the same request passes if
 *     nobody else asks, exact to the store's resolution (nanoseconds in this process, microseconds
 *     in Redis) and never too short; {@link #NEVER} if the permits can never fit
 * @param resetAfterNanos nanoseconds, counted from {@code atNanos}, until the key is as good as new
 *     if nobody asks
 * @param atNanos the instant for which the permits are counted, on the store's scale, which is the
 *     ticker's in this process and Redis's own clock in Redis: the time of the decision, later if
 *     the permits were reserved for later, or if the key's state was ahead
 */
public record Decision(
    Outcome outcome,
    Reason reason,
    String policy,
    long limit,
    long remaining,
    long retryAfterNanos,
    long resetAfterNanos,
    long atNanos) {

  /** The {@link #retryAfterNanos()} of a request that can never pass. */
  public static final long NEVER = Long.MAX_VALUE;

  /**
   * @throws NullPointerException if outcome, reason or policy is null
   */
  public Decision {
    Check.notNull("outcome", outcome);
    Check.notNull("reason", reason);
    Check.notNull("policy", policy);
  }

  public boolean allowed() {
    return outcome == Outcome.ALLOWED;
  }

  /**
   * Returns whether the request was refused now and can pass later: whether there is a retry-after
   * worth telling. The permits of a refused request of which this is false can never fit; no {@code
   * Retry-After} is right for it.
   */
  public boolean retryable() {
    return !allowed() && retryAfterNanos != NEVER;
  }

  /**
   * Returns {@link #retryAfterNanos()} in milliseconds, rounded up; {@link #NEVER} stays: see
   * {@link #retryable}.
   */
  public long retryAfterMillis() {
    return retryAfterNanos == NEVER ? NEVER : ceilDiv(retryAfterNanos, 1_000_000L);
  }

  /**
   * Returns {@link #retryAfterNanos()} in seconds, rounded up, as the field {@code Retry-After} has
   * it. {@link #NEVER} stays, which is no number of seconds to send anybody: ask {@link #retryable}
   * first.
   */
  public long retryAfterSeconds() {
    return retryAfterNanos == NEVER ? NEVER : ceilDiv(retryAfterNanos, 1_000_000_000L);
  }

  /** Returns {@link #resetAfterNanos()} in seconds, rounded up. */
  public long resetAfterSeconds() {
    return ceilDiv(resetAfterNanos, 1_000_000_000L);
  }

  /**
   * Returns {@link #retryAfterNanos()}, zero if allowed; 292 years, which is {@link #NEVER}, unless
   * {@link #retryable} or allowed.
   */
  public Duration retryAfter() {
    return Duration.ofNanos(retryAfterNanos);
  }

  public Duration resetAfter() {
    return Duration.ofNanos(resetAfterNanos);
  }

  private static long ceilDiv(long value, long divisor) {
    return value / divisor + (value % divisor > 0 ? 1 : 0);
  }
}
