package dev.weir.rules;

/**
 * The bounds that a rule sets on requests beyond its limit that may wait for their turn: {@code
 * on_limit: {queue: {requests: 50, wait: 2s}}}. Without them such a request is refused at once.
 *
 * @param requests how many may wait for one key at a time, 1 to {@link #MAX_REQUESTS}
 * @param waitNanos the longest that one may wait, 1 ms to 1 minute, in nanoseconds
 */
public record QueueBounds(int requests, long waitNanos) {
  /** The most requests that may wait for one key. */
  public static final int MAX_REQUESTS = 100_000;

  public static final long MIN_WAIT_NANOS = 1_000_000L;
  public static final long MAX_WAIT_NANOS = 60_000_000_000L;

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public QueueBounds {
    if (requests < 1 || requests > MAX_REQUESTS) {
      throw new IllegalArgumentException(
          "requests: " + requests + " (expected: 1.." + MAX_REQUESTS + ")");
    }
    if (waitNanos < MIN_WAIT_NANOS || waitNanos > MAX_WAIT_NANOS) {
      throw new IllegalArgumentException(
          "waitNanos: "
              + waitNanos
              + " (expected: "
              + MIN_WAIT_NANOS
              + ".."
              + MAX_WAIT_NANOS
              + ")");
    }
  }
}
