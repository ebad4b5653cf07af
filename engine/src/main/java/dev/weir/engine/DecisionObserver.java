package dev.weir.engine;

/**
 * Hears what an {@link Engine} has decided, for example to know the busiest keys. It is called on
 * the threads that decide, before the answer is handed out: it must be quick, never block and never
 * throw. Must be safe for use by many threads.
 */
@FunctionalInterface
public interface DecisionObserver {
  /**
   * Hears how one descriptor with a limit fared, and of a request with several how each did. What
   * is only looked at or given back is not heard of, and a request that waited for its turn is
   * heard of when it is refused first and again if it is then admitted.
   *
   * @param decided not to be kept
   */
  void decided(DecidedDescriptor decided);
}
