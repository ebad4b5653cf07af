package dev.weir.shared.internal;

import dev.weir.Ticker;
import dev.weir.shared.Shard;
import dev.weir.shared.StoreSettings;

/**
 * A check of deadlines that lets arrived replies be read before an operation is failed, and
 * measures the lateness of this process itself. Safe for use by many threads.
 */
public final class Turns {
  /*
   * How is Turns designed, and why? If processors are scarce, a reply may wait in its socket beyond
   * its deadline because the thread that reads has not run. A failure of its operation would blame
   * the store for this process's own lateness. So a deadline is checked only after the reading
   * threads had a turn, in which they read and answer everything that had arrived.
   *
   * An operation that waits to be sent is delayed by that lateness too. A turn is requested at
   * every tick while any operation waits. If one comes later than the tick before it plus a tick or
   * two, nothing was read or sent meanwhile, and all deadlines move by that time: by at most the
   * timeout in all.
   *
   * A loop without a turn for as many ticks as a timeout has is not waited for. Ticks are counted,
   * not time: a process that was stopped as a whole has missed both. So if a store is dead, an
   * answer takes the timeout, and at most twice that, however late this process is.
   */
  private final Shard shard;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final long tickNanos;
  private final long mostTicks;

  /** The time of the last read, or of the last tick without anything to read. */
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

  /** Returns the total lateness of this process. */
  public long lateNanos() {
    return lateNanos;
  }

  /**
   * Returns whether a deadline has passed, including its moves.
   *
   * @param lateBeforeNanos {@link #lateNanos()} when it was set
   */
  public boolean over(long deadlineNanos, long lateBeforeNanos) {
    long moved = Math.min(timeoutNanos, lateNanos - lateBeforeNanos);
    return ticker.nanos() - deadlineNanos - moved >= 0;
  }

  /**
   * Requests a turn; to be called at every tick.
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
