package dev.weir.bench.peers;

/**
 * The interface of all contenders: a limiter of each key by itself. Safe for use by many threads.
 */
public interface KeyedLimiter {
  /**
   * Adds a key, so that it has state during the measurement. Charges what the key can spare: a
   * permit, or as many as keep a bucket from being dropped before the run is over.
   *
   * @return true if it was charged
   */
  boolean fill(String key);

  /** Requests one permit now and returns whether it was granted. Never waits. */
  boolean tryAcquire(String key);
}
