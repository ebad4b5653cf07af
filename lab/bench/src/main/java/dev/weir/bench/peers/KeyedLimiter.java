package dev.weir.bench.peers;

/** What all contenders can do: limit each key by itself. Safe for use by many threads. */
public interface KeyedLimiter {
  /**
   * Makes a key known, so that it has state while it is measured. Charges what the key can spare: a
   * permit, or as many as keep a bucket from being forgotten before the run is over.
   *
   * @return whether it was charged
   */
  boolean fill(String key);

  /** Asks for one permit now and returns whether it was given. Never waits. */
  boolean tryAcquire(String key);
}
