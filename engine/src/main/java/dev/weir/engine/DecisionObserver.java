package dev.weir.engine;

import dev.weir.rules.Descriptor;

/**
 * Is told what an {@link Engine} has decided, for example to know the busiest keys. It is called on
 * the threads that decide, before the answer is handed out: it must be quick, never block and never
 * throw. Must be safe for use by many threads.
 */
@FunctionalInterface
public interface DecisionObserver {
  /**
   * Hears how one descriptor with a limit fared; of a request with several it is told of each. What
   * is only looked at or given back is not told, and a request that waited for its turn is told
   * when it is refused first and again if it is then admitted.
   *
   * @param status has the decision and the limit that made it
   * @param fingerprint of the key under which the limit counts; the same value under another limit
   *     is another key
   * @param refused whether this descriptor is one of those that refused the request
   */
  void decided(Descriptor descriptor, Status status, long fingerprint, boolean refused);
}
