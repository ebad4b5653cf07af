package dev.weir.shared;

import dev.weir.Ticker;

/**
 * The two clocks by which something may end. Safe for use by many threads.
 *
 * <p>The monotonic one stands still while the machine is suspended; the wall clock does not, but
 * may be set back. Something that ends as soon as either clock reaches its end never lasts too
 * long, and may end early.
 *
 * @param monotonic never goes back
 * @param wall may be set to any time
 */
public record Clocks(Ticker monotonic, Ticker wall) {
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

  /** Returns whether either clock has reached an instant. */
  public boolean reached(Instant instant) {
    return monotonic.nanos() - instant.nanos >= 0 || wall.nanos() - instant.wallNanos >= 0;
  }

  /** Returns the time until the first clock reaches an instant; at most 0 if one has. */
  public long until(Instant instant) {
    return Math.min(instant.nanos - monotonic.nanos(), instant.wallNanos - wall.nanos());
  }
}
