package dev.weir.shared.internal;

/**
 * Notices when a shard's time goes back from one reply to the next. Safe for use by many threads.
 */
final class ShardTime {
  /** A smaller step does no visible harm. */
  private static final long LEAST_NANOS = 1_000_000;

  private long lastNanos = Long.MIN_VALUE;

  /**
   * Takes note of a reply's time, in the order of replies.
   *
   * @return by how much it is behind the last one's, 0 if it is not, or by less than a millisecond
   */
  synchronized long backNanos(long nowNanos) {
    long last = lastNanos;
    lastNanos = nowNanos;
    boolean back = last != Long.MIN_VALUE && last - nowNanos >= LEAST_NANOS;
    return back ? last - nowNanos : 0;
  }
}
