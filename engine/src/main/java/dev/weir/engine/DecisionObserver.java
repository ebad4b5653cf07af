package dev.weir.engine;

/**
 * A receiver of the decisions of an {@link Engine}, for example to find the busiest keys. It is
 * called on the threads that decide, before the answer is passed on: it must be quick, never block
 * and never throw. Must be safe for use by many threads.
 */
@FunctionalInterface
public interface DecisionObserver {
  /**
   * Receives the outcome of one descriptor with a limit; for a request with several, it is called
   * for each. It is not called for peeks and refunds. For a request that waited for its turn it is
   * called when that is refused first, and again if it is then admitted.
   *
   * @param decided not to be kept
   */
  void decided(DecidedDescriptor decided);
}
