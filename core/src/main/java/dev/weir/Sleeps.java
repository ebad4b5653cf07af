package dev.weir;

import java.time.Duration;

/** The bounds on how long a request may wait. */
final class Sleeps {
  /** The longest wait, 36 years: the longest that a full bucket may take to refill. */
  static final long LONGEST_NANOS = 1L << 60;

  private Sleeps() {}

  /** Returns a duration in nanoseconds, 0 to {@link #LONGEST_NANOS}. */
  static long nanos(String name, Duration duration) {
    return Check.range(name, Check.nanos(name, duration), 0, LONGEST_NANOS);
  }
}
