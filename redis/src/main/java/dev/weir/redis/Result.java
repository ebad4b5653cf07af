package dev.weir.redis;

import dev.weir.Decision;
import dev.weir.Reason;

/**
 * What the script says of one charge.
 *
 * @param reason {@link Reason#UNCERTAIN} if it could not decide
 * @param remaining permits left
 * @param retryAfterNanos as {@link Decision#retryAfterNanos()}; for a charge that waits, its wait
 * @param resetAfterNanos as {@link Decision#resetAfterNanos()}
 * @param atNanos as {@link Decision#atNanos()}, on Redis's scale
 */
record Result(
    Reason reason, long remaining, long retryAfterNanos, long resetAfterNanos, long atNanos) {
  static final long NANOS_PER_MICRO = 1_000;

  private static final Reason[] CODES = {
    Reason.WITHIN_LIMIT, Reason.OVER_LIMIT, Reason.INVALID, Reason.UNCERTAIN
  };

  static Result read(MessageReader reply) {
    Reason reason = CODES[(int) reply.number()];
    long remaining = reply.number();
    long retry = reply.number();
    long reset = nanos(reply.number());
    long fraction = reply.number();
    long at = nanos(reply.number());
    return new Result(
        reason,
        remaining,
        retry < 0 ? Decision.NEVER : nanos(retry),
        reset == Decision.NEVER ? reset : reset + fraction,
        at);
  }

  /** Returns so many microseconds in nanoseconds, {@link Decision#NEVER} if they are too many. */
  private static long nanos(long micros) {
    return micros > Decision.NEVER / NANOS_PER_MICRO ? Decision.NEVER : micros * NANOS_PER_MICRO;
  }

  boolean fits() {
    return reason == Reason.WITHIN_LIMIT;
  }

  /** Returns the instant at which the key is as good as new. */
  long resetNanos() {
    return atNanos + resetAfterNanos;
  }
}
