package dev.weir.redis;

/** What a process may decide by itself of the keys of one limit. Safe for use by many threads. */
interface Holdings {
  /** Decides, here or by asking; tells {@code asker} once. */
  void decide(RedisLimit limit, long fingerprint, long permits, Single.Asker asker);

  /** Instead of a number of permits: Redis knows of them. */
  long NOT_HERE = -1;

  /**
   * Takes back permits that were granted here; returns how many, or {@link #NOT_HERE}.
   *
   * @param atNanos {@link dev.weir.Decision#atNanos()} of the grant
   */
  long refund(long fingerprint, long permits, long atNanos);

  /** Does what is due. */
  void tick(RedisLimit limit);

  /** Gives everything back. From then on Redis is asked each time: who decides may be late. */
  void close(RedisLimit limit);
}
