package dev.weir.redis;

/**
 * Notices when a shard's time goes back from one reply to the next. Safe for use by many threads.
 */
final class ShardTime {
  /** A step that is smaller does no harm that anybody sees. */
  private static final long LEAST_MICROS = 1_000;

  private long lastMicros = Long.MIN_VALUE;

  /**
   * Takes note of a reply's time, in the order of replies.
   *
   * @return by how much it is behind the last one's, 0 if it is not, or by less than a millisecond
   */
  synchronized long backMicros(long nowMicros) {
    long last = lastMicros;
    lastMicros = nowMicros;
    boolean back = last != Long.MIN_VALUE && last - nowMicros >= LEAST_MICROS;
    return back ? last - nowMicros : 0;
  }
}
