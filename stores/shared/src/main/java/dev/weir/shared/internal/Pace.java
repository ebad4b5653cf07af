package dev.weir.shared.internal;

/**
 * The interval at which a store checks waiting operations: short, and longer once none has waited
 * for a while. Safe for use by many threads.
 */
public final class Pace {
  /*
   * A check without work takes no time, but it wakes a thread: at two hundred a second, an idle
   * server would use a hundredth of a processor for it. So a store that had no work for some time
   * rests. A thread that makes a request then ends the rest before anything waits, so that no check
   * is later than it would have been. A rest is announced one check before it begins: if a thread
   * makes a request without having seen the announcement, that check sees the request.
   */

  /**
   * The number of checks without work before a rest: about a second, so that a store with a request
   * now and then is woken no more often.
   */
  public static final int TICKS_BEFORE_REST = 200;

  public static final int TICKS_OF_REST = 20;

  private final long tickNanos;
  private int idleTicks;

  /** True from one check before the rest on. */
  private volatile boolean resting;

  /**
   * Creates the pace.
   *
   * @param tickNanos between two checks, while there is work
   */
  public Pace(long tickNanos) {
    this.tickNanos = tickNanos;
  }

  /**
   * Returns the nanoseconds until the next check.
   *
   * @param idle true if there was no work
   */
  public synchronized long next(boolean idle) {
    idleTicks = idle ? Math.min(idleTicks + 1, TICKS_BEFORE_REST) : 0;
    resting = idleTicks >= TICKS_BEFORE_REST - 1;
    return idleTicks == TICKS_BEFORE_REST ? TICKS_OF_REST * tickNanos : tickNanos;
  }

  /**
   * Ends a rest, if there is one; to be called before anything waits.
   *
   * @param look is run in that case, before any other thread goes on
   */
  public void wake(Runnable look) {
    if (resting) {
      wakeOnce(look);
    }
  }

  private synchronized void wakeOnce(Runnable look) {
    if (resting) {
      look.run();
      idleTicks = 0;
      resting = false;
    }
  }
}
