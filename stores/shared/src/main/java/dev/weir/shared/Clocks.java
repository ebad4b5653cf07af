package dev.weir.shared;

import dev.weir.Ticker;

/**
 * The two clocks by which something may end. Safe for use by many threads.
 *
 * <p>The monotonic one stands still while the machine is suspended; the wall clock does not, but
 * may be set back. Something that ends as soon as either clock reaches its end, or the wall clock
 * has been set back, does not last too long, and may end early. There is one exception, which no
 * clock of the process shows: the machine was suspended, and its wall clock stood still as well or
 * was set back by as much.
 *
 * @param monotonic never goes back
 * @param wall may be set to any time
 */
public record Clocks(Ticker monotonic, Ticker wall) {
  /**
   * The time by which the wall clock may fall behind before it counts as set back. The two are not
   * read at the same instant, and the wall clock has a coarse resolution.
   */
  private static final long TOLERANCE_NANOS = 100_000_000;

  /**
   * An instant on both clocks.
   *
   * @param nanos on the monotonic clock
   * @param wallNanos on the wall clock
   */
  public record Instant(long nanos, long wallNanos) {
    /** Returns the instant that is later by this time on both clocks. */
    public Instant plus(long byNanos) {
      return new Instant(nanos + byNanos, wallNanos + byNanos);
    }
  }

  /** Returns the current instant on both clocks. */
  public Instant now() {
    return new Instant(monotonic.nanos(), wall.nanos());
  }

  /** Returns the current time on the monotonic clock. */
  public long nanos() {
    return monotonic.nanos();
  }

  /**
   * Returns whether either clock has reached an instant, or the wall clock has been set back since
   * the instant was made: then it may hide that the machine was suspended.
   */
  public boolean reached(Instant instant) {
    return until(instant) <= 0;
  }

  /**
   * Returns the time until the first clock reaches an instant; at most 0 if one has, or if the wall
   * clock has been set back since the instant was made.
   */
  public long until(Instant instant) {
    long left = instant.nanos - monotonic.nanos();
    long wallLeft = instant.wallNanos - wall.nanos();
    boolean setBack = wallLeft - left > TOLERANCE_NANOS;
    return setBack ? Math.min(0, left) : Math.min(left, wallLeft);
  }
}
