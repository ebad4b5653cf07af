package dev.weir.shared.internal;

/**
 * A detector of steps back of a shard's time from one reply to the next. Safe for use by many
 * threads.
 */
final class ShardTime {
  /** The smallest step that counts; a smaller one does no visible harm. */
  private static final long LEAST_NANOS = 1_000_000;

  private long lastNanos = Long.MIN_VALUE;

  /**
   * Notes a reply's time, in the order of replies.
   *
   * @return the time by which it is behind the last one's; 0 if it is not, or by less than a
   *     millisecond
   */
  synchronized long backNanos(long nowNanos) {
    long last = lastNanos;
    lastNanos = nowNanos;
    boolean back = last != Long.MIN_VALUE && last - nowNanos >= LEAST_NANOS;
    return back ? last - nowNanos : 0;
  }
}
