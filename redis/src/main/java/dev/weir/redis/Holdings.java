package dev.weir.redis;

/** What a process may decide by itself of the keys of one limit. Safe for use by many threads. */
interface Holdings {
  /** Decides, here or by asking; tells {@code asker} once. */
  void decide(RedisLimit limit, long fingerprint, long permits, Single.Asker asker);

  /**
   * Takes back permits that were granted here; returns whether it could.
   *
   * @param atNanos {@link dev.weir.Decision#atNanos()} of the grant
   */
  boolean refund(long fingerprint, long permits, long atNanos);

  /** Does what is due. */
  void tick(RedisLimit limit);

  /** Gives everything back. */
  void close(RedisLimit limit);
}
