package dev.weir.engine.seats;

import java.util.function.Consumer;

/**
 * The seats that one request has taken, in the process whose engine admitted it. Safe for use by
 * many threads.
 */
public interface TakenSeat {
  /**
   * Returns the time within which it has to be renewed, in nanoseconds; the least of all limits.
   */
  long holdNanos();

  /** Renews it. Calls {@code done} exactly once, on a thread of the store or on this one. */
  void renew(Consumer<? super SeatOutcome> done);

  /** Gives it back. Calls {@code done} exactly once, on a thread of the store or on this one. */
  void release(Consumer<? super SeatOutcome> done);

  /**
   * Records that it is about to be given back although no end of its request was noticed. Default:
   * nothing is recorded.
   */
  default void leaked() {}
}
