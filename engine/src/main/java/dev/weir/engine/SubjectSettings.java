package dev.weir.engine;

import dev.weir.Quota;

/**
 * How long requests wait for the limits of their subjects.
 *
 * @param waitNanos the longest that a request waits, in nanoseconds, at least 1
 * @param maxWaiting the most subjects that requests may wait for at a time, counted for each
 *     request, at least 0; beyond it a request is answered at once
 */
public record SubjectSettings(long waitNanos, int maxWaiting) {
  /**
   * 50 ms are more than a database in the same place needs; 10,000 requests are what comes in that
   * time at 200,000 a second, if all of them miss.
   */
  public static final SubjectSettings DEFAULTS = new SubjectSettings(50_000_000L, 10_000);

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public SubjectSettings {
    if (waitNanos < 1 || waitNanos > Quota.MAX_WINDOW_NANOS) {
      throw new IllegalArgumentException(
          "waitNanos: " + waitNanos + " (expected: 1.." + Quota.MAX_WINDOW_NANOS + ")");
    }
    if (maxWaiting < 0) {
      throw new IllegalArgumentException("maxWaiting: " + maxWaiting + " (expected: at least 0)");
    }
  }
}
