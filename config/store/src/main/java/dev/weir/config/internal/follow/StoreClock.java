package dev.weir.config.internal.follow;

import dev.weir.Ticker;
import java.time.Instant;

/**
 * The store's clock as far as it is known here: the ticker's instant for a time of that clock. Safe
 * for use by many threads.
 */
public final class StoreClock {
  /*
   * How is StoreClock designed, and why? The difference of both clocks is known as an interval that
   * contains it: the store wrote down its time between two instants of the ticker. So an end can be
   * converted to an instant that is surely not too late, or surely not too early. The interval is
   * wider than the measured one, and stays as long as later measurements fit in.
   *
   * Before the first measurement, the wall clock of this machine stands in for the store's.
   *
   * Clocks drift, so an end that was converted long ago may be wrong, by at most a second: beyond
   * it, all ends have to be converted anew. The ticker does not follow a step of the wall clock,
   * and stands still while the machine is suspended; that is seen and measured soon.
   */
  private static final long SECOND = 1_000_000_000L;

  /**
   * The assumed error of the store's clock before it is measured, and the margin around a measured
   * difference, within which it may drift.
   */
  static final long SLACK_NANOS = SECOND / 10;

  static final long MEASURE_NANOS = 60 * SECOND;

  /** The farthest instant in seconds that fits into nanoseconds, with room for any difference. */
  private static final long MAX_SECONDS = Ticker.HORIZON_NANOS / SECOND;

  /** The least and the most by which the store's clock is ahead of the ticker. */
  private record Lead(long leastNanos, long mostNanos) {}

  private final Ticker ticker;
  private final Ticker wall;
  private final Runnable jumped;
  private volatile Lead ahead;

  /** The difference at the last conversion of all ends. */
  private Lead base;

  private boolean measured;
  private long measuredAtNanos;
  private long wallAheadNanos;

  /**
   * Creates a clock.
   *
   * @param wall of this machine
   * @param jumped is called when ends that were converted before are wrong
   */
  public StoreClock(Ticker ticker, Ticker wall, Runnable jumped) {
    this.ticker = ticker;
    this.wall = wall;
    this.jumped = jumped;
    wallAheadNanos = wallAhead();
    base = new Lead(wallAheadNanos - SLACK_NANOS, wallAheadNanos + SLACK_NANOS);
    ahead = base;
  }

  private long wallAhead() {
    return wall.nanos() - ticker.nanos();
  }

  /** Returns whether it is time to measure: each minute, and after a step of the wall clock. */
  synchronized boolean due() {
    return !measured
        || ticker.nanos() - measuredAtNanos >= MEASURE_NANOS
        || Math.abs(wallAhead() - wallAheadNanos) > SECOND;
  }

  /**
   * Notes the time that the store's clock showed.
   *
   * @param at in whole milliseconds, rounded down, at an instant between both of the ticker
   */
  void measured(long fromNanos, Instant at, long toNanos) {
    boolean jump;
    synchronized (this) {
      long said = Math.multiplyExact(at.toEpochMilli(), 1_000_000L);
      long least = said - toNanos;
      long most = said + 1_000_000L - fromNanos;
      Lead before = ahead;
      boolean fits = least >= before.leastNanos && most <= before.mostNanos;
      if (!fits) {
        ahead = new Lead(least - SLACK_NANOS, most + SLACK_NANOS);
      }
      jump = least > base.mostNanos + SECOND || most < base.leastNanos - SECOND;
      if (jump) {
        base = ahead;
      }
      measured = true;
      measuredAtNanos = toNanos;
      wallAheadNanos = wallAhead();
    }
    if (jump) {
      jumped.run();
    }
  }

  /**
   * Returns the instant of an end on the ticker's scale.
   *
   * @param early true if it may be too early rather than too late
   */
  long endNanos(Instant until, boolean early) {
    if (until.getEpochSecond() >= MAX_SECONDS) {
      return Long.MAX_VALUE;
    }
    Lead now = ahead;
    return until.getEpochSecond() * SECOND - (early ? now.mostNanos : now.leastNanos);
  }
}
