package dev.weir;

/**
 * Readers of decisions that are packed into a {@code long} each, so that deciding allocates
 * nothing.
 *
 * <p>A value of zero or more is an admission: the permits that remain. A negative one is a refusal:
 * minus the nanoseconds after which to come back, {@code -}{@link Decision#NEVER} for never. {@link
 * #KEY_SPACE_FULL} is a refusal for want of room; {@link #UNCERTAIN} and {@link #OVERLOADED} are
 * those of a store that could not decide, or has not read its counts yet. If a policy allows such a
 * request all the same ({@link FailureMode#ALLOW}), the value is an admission with no permits left.
 */
public final class PackedDecision {
  /** The refusal with {@link Reason#KEY_SPACE_FULL}. */
  public static final long KEY_SPACE_FULL = Long.MIN_VALUE;

  /** The refusal with {@link Reason#UNCERTAIN}. */
  public static final long UNCERTAIN = -Long.MAX_VALUE + 1;

  /** The refusal with {@link Reason#OVERLOADED}. */
  public static final long OVERLOADED = -Long.MAX_VALUE + 2;

  private PackedDecision() {}

  public static boolean allowed(long packed) {
    return packed >= 0;
  }

  /** Returns the reason: never {@link Reason#SHADOW} or {@link Reason#INVALID}. */
  public static Reason reason(long packed) {
    if (packed >= 0) {
      return Reason.WITHIN_LIMIT;
    }
    return packed == KEY_SPACE_FULL
        ? Reason.KEY_SPACE_FULL
        : packed == UNCERTAIN
            ? Reason.UNCERTAIN
            : packed == OVERLOADED ? Reason.OVERLOADED : Reason.OVER_LIMIT;
  }

  /** Returns the permits left, 0 for a refusal: those left then did not suffice. */
  public static long remaining(long packed) {
    return Math.max(0, packed);
  }

  /**
   * Returns the retry-after as {@link Decision#retryAfterNanos()}: 0 if allowed, {@link
   * Decision#NEVER} if the permits can never fit, or if the store cannot decide.
   */
  public static long retryAfterNanos(long packed) {
    return packed >= 0 ? 0 : packed <= OVERLOADED ? Decision.NEVER : -packed;
  }

  static long of(Reason reason, long remaining, long retryAfterNanos) {
    return switch (reason) {
      case WITHIN_LIMIT -> remaining;
      case KEY_SPACE_FULL -> KEY_SPACE_FULL;
      case UNCERTAIN -> UNCERTAIN;
      case OVERLOADED -> OVERLOADED;
      default -> refused(retryAfterNanos);
    };
  }

  static long refused(long retryAfterNanos) {
    return -retryAfterNanos;
  }
}
