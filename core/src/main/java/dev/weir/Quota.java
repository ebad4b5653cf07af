package dev.weir;

import java.time.Duration;

/**
 * A number of permits per window.
 *
 * @param permits the number, 0 to 4294967295; 0 admits nothing
 * @param windowNanos the window's length in nanoseconds, 1 ms to 366 days
 */
public record Quota(long permits, long windowNanos) {
  /** The most permits a quota can have: the largest uint32 on the wire. */
  public static final long MAX_PERMITS = (1L << 32) - 1;

  /** The shortest window. */
  public static final long MIN_WINDOW_NANOS = 1_000_000L;

  /** The longest window: a leap year. */
  public static final long MAX_WINDOW_NANOS = 366L * 86_400 * 1_000_000_000;

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Quota {
    Check.range("permits", permits, 0, MAX_PERMITS);
    Check.range("windowNanos", windowNanos, MIN_WINDOW_NANOS, MAX_WINDOW_NANOS);
  }

  /** Returns a quota of {@code permits} per {@code window}. */
  public static Quota of(long permits, Duration window) {
    return new Quota(permits, Check.nanos("window", window));
  }

  public static Quota perSecond(long permits) {
    return new Quota(permits, 1_000_000_000L);
  }

  public static Quota perMinute(long permits) {
    return new Quota(permits, 60_000_000_000L);
  }

  public static Quota perHour(long permits) {
    return new Quota(permits, 3_600_000_000_000L);
  }

  public static Quota perDay(long permits) {
    return new Quota(permits, 86_400_000_000_000L);
  }

  public Duration window() {
    return Duration.ofNanos(windowNanos);
  }
}
