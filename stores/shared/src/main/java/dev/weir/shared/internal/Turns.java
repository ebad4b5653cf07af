package dev.weir.shared.internal;

import dev.weir.Ticker;
import dev.weir.shared.Shard;
import dev.weir.shared.StoreSettings;

/**
 * Lets what has arrived be read before an operation is failed for its deadline, and measures how
 * late this process itself was. Safe for use by many threads.
 */
public final class Turns {
  /*
   * How is Turns designed, and why? Where processors are scarce, a reply may lie in its socket
   * while the clock says that it is too late: the thread that reads has not run. To fail its
   * operation then would blame the store for this process's own lateness. So a deadline is checked
   * only after the reading threads had a turn: whatever had arrived is read then, and answered.
   *
   * An operation that waits to be sent is delayed by that lateness as well. Turns are asked for at
   * every tick while any operation waits; if one comes later than the tick before it plus a tick or
   * two, nothing was read or sent meanwhile, and all deadlines move by as much: by no more than the
   * timeout in all.
   *
   * A loop that gives no turn at all for as many ticks as a timeout has is not waited for. Ticks,
   * not time: a process that was stopped as a whole has missed both. So where a store is dead an
   * answer takes the timeout, and never more than twice that, however late this process is.
   */
  private final Shard shard;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final long tickNanos;
  private final long mostTicks;

  /** When something was last read, as far as there was something to read. */
  private long readAtNanos;

  private boolean asked;
  private long ticksSinceAsked;
  private volatile long lateNanos;

  public Turns(Shard shard, Ticker ticker, long timeoutNanos) {
    this.shard = shard;
    this.ticker = ticker;
    this.timeoutNanos = timeoutNanos;
    tickNanos = StoreSettings.tickNanos(timeoutNanos);
    mostTicks = timeoutNanos / tickNanos;
    readAtNanos = ticker.nanos();
  }

  /** Returns how late this process was in all. */
  public long lateNanos() {
    return lateNanos;
  }

  /**
   * Returns whether a deadline has passed, and was not moved.
   *
   * @param lateBeforeNanos {@link #lateNanos()} when it was set
   */
  public boolean over(long deadlineNanos, long lateBeforeNanos) {
    long moved = Math.min(timeoutNanos, lateNanos - lateBeforeNanos);
    return ticker.nanos() - deadlineNanos - moved >= 0;
  }

  /**
   * To be called at every tick.
   *
   * @param waiting whether any operation waits for a reply
   * @param expire fails the operations whose deadline is over; called after a turn
   */
  public void tick(boolean waiting, Runnable expire) {
    boolean ask = false;
    boolean stuck = false;
    synchronized (this) {
      if (asked) {
        stuck = ++ticksSinceAsked > mostTicks;
      } else if (waiting) {
        asked = true;
        ticksSinceAsked = 0;
        ask = true;
      } else {
        readAtNanos = ticker.nanos();
      }
    }
    if (ask) {
      shard
          .turn()
          .whenComplete(
              (done, error) -> {
                given();
                expire.run();
              });
    } else if (stuck) {
      expire.run();
    }
  }

  private synchronized void given() {
    asked = false;
    long now = ticker.nanos();
    long late = now - readAtNanos - tickNanos;
    if (late > tickNanos) {
      lateNanos += late;
    }
    readAtNanos = now;
  }
}
