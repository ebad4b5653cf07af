package dev.weir.shared;

import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Reason;

/**
 * The decision about one charge: a shard's, or the one in its place if the shard failed.
 *
 * @param reason {@link Reason#UNCERTAIN} if it could not decide
 * @param cause as {@link Decision#cause()}
 * @param remaining permits left
 * @param retryAfterNanos as {@link Decision#retryAfterNanos()}; for a charge that waits, its wait
 * @param resetAfterNanos as {@link Decision#resetAfterNanos()}
 * @param atNanos as {@link Decision#atNanos()}, on the shard's scale: whole microseconds
 */
public record Result(
    Reason reason,
    String cause,
    long remaining,
    long retryAfterNanos,
    long resetAfterNanos,
    long atNanos) {
  public static final long NANOS_PER_MICRO = 1_000;

  /**
   * A mark in place of a result: the shard does not have the key any more, and has not decided any
   * part of the operation.
   */
  public static final Result MOVED = new Result(Reason.UNCERTAIN, -1, 0, 0, 0);

  /** Creates the decision of a shard. It is uncertain only if the shard cannot count the key. */
  public Result(
      Reason reason, long remaining, long retryAfterNanos, long resetAfterNanos, long atNanos) {
    this(
        reason,
        reason == Reason.UNCERTAIN ? Failure.STATE.text() : "",
        remaining,
        retryAfterNanos,
        resetAfterNanos,
        atNanos);
  }

  /** Returns the result of a charge that the store did not decide. */
  public static Result failed(Failure failure, long retryAfterNanos, long atNanos) {
    return failure == Failure.OVERLOADED
        ? new Result(Reason.OVERLOADED, "", 0, retryAfterNanos, 0, atNanos)
        : new Result(Reason.UNCERTAIN, failure.text(), 0, retryAfterNanos, 0, atNanos);
  }

  /** Sets the result of charge {@code i}. */
  public void to(Charges charges, int i) {
    charges.result(i, reason, remaining, retryAfterNanos, resetAfterNanos, atNanos);
    charges.cause(i, cause);
  }

  public boolean isMoved() {
    return equals(MOVED);
  }

  /** Returns whether the charge fits. */
  public boolean fits() {
    return reason == Reason.WITHIN_LIMIT;
  }

  /**
   * Returns the reason for which further permits are refused: over the limit if these fit, else the
   * reason of this result.
   */
  public Reason refusal() {
    return fits() ? Reason.OVER_LIMIT : reason;
  }

  /** Returns the instant at which the key is as if it had never been used. */
  public long resetNanos() {
    return atNanos + resetAfterNanos;
  }
}
