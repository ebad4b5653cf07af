package dev.weir.engine;

/**
 * The bounds on requests that wait for the limits of their subjects.
 *
 * @param waitNanos the longest that a request waits, in nanoseconds, 1 to 10 s
 * @param maxWaiting the most subjects that requests may wait for at a time, counted for each
 *     request, at least 1; beyond it a request is answered at once. It is also the most subjects
 *     that are looked up at a time while no request waits for them
 */
public record SubjectSettings(long waitNanos, int maxWaiting) {
  private static final long MAX_WAIT_NANOS = 10_000_000_000L;

  /**
   * The default settings. 50 ms are more than a database in the same place needs; 10,000 requests
   * arrive in that time at 200,000 a second, if all of them miss.
   */
  public static final SubjectSettings DEFAULTS = new SubjectSettings(50_000_000L, 10_000);

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public SubjectSettings {
    if (waitNanos < 1 || waitNanos > MAX_WAIT_NANOS) {
      throw new IllegalArgumentException(
          "waitNanos: " + waitNanos + " (expected: 1.." + MAX_WAIT_NANOS + ")");
    }
    if (maxWaiting < 1) {
      throw new IllegalArgumentException("maxWaiting: " + maxWaiting + " (expected: at least 1)");
    }
  }
}
