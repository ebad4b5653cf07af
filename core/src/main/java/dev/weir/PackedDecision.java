package dev.weir;

/**
 * Reads decisions that are packed into a {@code long} each, so that deciding allocates nothing.
 *
 * <p>Zero and more is an admission and says how many permits remain. Less is a refusal and says
 * when to come back: minus that many nanoseconds, {@code -}{@link Decision#NEVER} for never. {@link
 * #KEY_SPACE_FULL} is a refusal for want of room.
 */
public final class PackedDecision {
  /** The refusal with {@link Reason#KEY_SPACE_FULL}. */
  public static final long KEY_SPACE_FULL = Long.MIN_VALUE;

  private PackedDecision() {}

  public static boolean allowed(long packed) {
    return packed >= 0;
  }

  /** Returns {@link Reason#WITHIN_LIMIT}, {@code OVER_LIMIT} or {@code KEY_SPACE_FULL}. */
  public static Reason reason(long packed) {
    return packed >= 0
        ? Reason.WITHIN_LIMIT
        : packed == KEY_SPACE_FULL ? Reason.KEY_SPACE_FULL : Reason.OVER_LIMIT;
  }

  /** Returns the permits left, 0 for a refusal: what is left then did not suffice. */
  public static long remaining(long packed) {
    return Math.max(0, packed);
  }

  /**
   * Returns as {@link Decision#retryAfterNanos()}: 0 if allowed, {@link Decision#NEVER} if the
   * permits can never fit, and for {@code KEY_SPACE_FULL}, where nobody knows.
   */
  public static long retryAfterNanos(long packed) {
    return packed >= 0 ? 0 : packed == KEY_SPACE_FULL ? Decision.NEVER : -packed;
  }

  static long of(Reason reason, long remaining, long retryAfterNanos) {
    return reason == Reason.WITHIN_LIMIT
        ? remaining
        : reason == Reason.KEY_SPACE_FULL ? KEY_SPACE_FULL : refused(retryAfterNanos);
  }

  static long refused(long retryAfterNanos) {
    return -retryAfterNanos;
  }
}
