package dev.weir.shared;

import dev.weir.Ticker;

/**
 * The two clocks by which something may end. Safe for use by many threads.
 *
 * <p>The monotonic one stands still while the machine is suspended; the wall clock does not, but
 * may be set back. Something that ends by the first of them to say so never lasts too long, and may
 * end early.
 *
 * @param monotonic only grows
 * @param wall may go anywhere
 */
public record Clocks(Ticker monotonic, Ticker wall) {
  /**
   * An instant by both.
   *
   * @param nanos by the monotonic clock
   * @param wallNanos by the wall clock
   */
  public record Instant(long nanos, long wallNanos) {
    /** Returns the instant so much later by both. */
    public Instant plus(long byNanos) {
      return new Instant(nanos + byNanos, wallNanos + byNanos);
    }
  }

  /** Returns the time by both. */
  public Instant now() {
    return new Instant(monotonic.nanos(), wall.nanos());
  }

  /** Returns the time by the monotonic clock. */
  public long nanos() {
    return monotonic.nanos();
  }

  /** Returns whether an instant has come by one of them. */
  public boolean reached(Instant instant) {
    return monotonic.nanos() - instant.nanos >= 0 || wall.nanos() - instant.wallNanos >= 0;
  }

  /** Returns for how long an instant has not come by either of them; at most 0 if it has. */
  public long until(Instant instant) {
    return Math.min(instant.nanos - monotonic.nanos(), instant.wallNanos - wall.nanos());
  }
}
