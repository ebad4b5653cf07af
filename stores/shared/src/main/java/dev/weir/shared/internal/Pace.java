package dev.weir.shared.internal;

/**
 * How often a store looks after what waits: often, and less often once nothing has waited for a
 * while. Safe for use by many threads.
 */
public final class Pace {
  /*
   * A look at nothing takes no time, but it wakes a thread: at two hundred a second, an idle
   * server would take a hundredth of a processor for it. So a store that had nothing to look after
   * for some time rests. A thread that asks it then ends the rest before anything waits, so that
   * nothing is looked after later than it would have been. A rest is announced one look before it
   * begins: what is asked by a thread that has not seen the announcement is seen by that look.
   */

  /** About a second: a store that is asked now and then is woken no more often. */
  public static final int TICKS_BEFORE_REST = 200;

  public static final int TICKS_OF_REST = 20;

  private final long tickNanos;
  private int idleTicks;

  /** Set from one look before the rest on. */
  private volatile boolean resting;

  /**
   * @param tickNanos between two looks, where there is something to look after
   */
  public Pace(long tickNanos) {
    this.tickNanos = tickNanos;
  }

  /**
   * Returns after how many nanoseconds to look again.
   *
   * @param idle whether there was nothing to look after
   */
  public synchronized long next(boolean idle) {
    idleTicks = idle ? Math.min(idleTicks + 1, TICKS_BEFORE_REST) : 0;
    resting = idleTicks >= TICKS_BEFORE_REST - 1;
    return idleTicks == TICKS_BEFORE_REST ? TICKS_OF_REST * tickNanos : tickNanos;
  }

  /**
   * Ends a rest, if there is one; to be called before something waits.
   *
   * @param look is run then, before any other thread goes on
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
