package dev.weir.engine;

/** A request's place in a queue, from {@link Decider#enqueue}. Safe for use by many threads. */
@FunctionalInterface
public interface Ticket {
  /** The ticket of a request that no longer waits. */
  Ticket USED = () -> false;

  /**
   * Leaves the queue. If the request is charged at this moment, the permits are given back.
   *
   * @return whether the request was still waiting: its callback is then no longer called. Otherwise
   *     it has been called, or is being called
   */
  boolean leave();
}
