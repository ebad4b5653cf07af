package dev.weir;

/**
 * The end of a holder's seat, on the clock that decides and on the wall clock.
 *
 * @param nanos on the limiter's clock
 * @param wallNanos on the wall clock; 0 where that does not matter
 */
record SeatEnd(long nanos, long wallNanos) {
  /*
   * Why two clocks? The monotonic clock stands still while a machine is suspended, but a store
   * elsewhere goes on, and gives the seat to another. The wall clock shows that, unless it was set
   * back: then the seat is taken for lost. Where the store is in this process, it stands still as
   * well; and a clock that was injected has no wall clock beside it.
   */

  /** The time by which the wall clock may fall behind before it counts as set back. */
  private static final long TOLERANCE_NANOS = 100_000_000;

  /**
   * Returns the end of a time that begins now.
   *
   * @param alone whether the wall clock does not matter
   */
  static SeatEnd after(long nanos, Ticker ticker, boolean alone) {
    return new SeatEnd(ticker.nanos() + nanos, alone ? 0 : Ticker.wall().nanos() + nanos);
  }

  /**
   * Returns how long it is until then; 0 or less if it has come.
   *
   * @param alone whether the wall clock does not matter
   */
  long leftNanos(Ticker ticker, boolean alone) {
    long left = nanos - ticker.nanos();
    if (alone) {
      return left;
    }
    long wallLeft = wallNanos - Ticker.wall().nanos();
    boolean setBack = wallLeft - left > TOLERANCE_NANOS;
    return setBack ? Math.min(0, left) : Math.min(left, wallLeft);
  }
}
