package dev.weir.engine;

/** A request's place in a queue, from {@link Decider#enqueue}. Safe for use by many threads. */
@FunctionalInterface
public interface Ticket {
  /** The ticket of a request that does not wait any more. */
  Ticket USED = () -> false;

  /**
   * Leaves the queue. What the request may be charged at this moment is given back.
   *
   * @return whether the request was still waiting: its callback is not called any more. Otherwise
   *     it has been called, or is being called
   */
  boolean leave();
}
