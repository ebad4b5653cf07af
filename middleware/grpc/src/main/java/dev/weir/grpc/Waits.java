package dev.weir.grpc;

import java.time.Duration;

/** The times in settings. */
final class Waits {
  private Waits() {}

  /**
   * Returns a time in nanoseconds, the largest number for a longer one.
   *
   * @throws IllegalArgumentException if it is negative
   */
  static long nanos(String name, Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException(name + ": " + time + " (expected: at least 0)");
    }
    try {
      return time.toNanos();
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE;
    }
  }
}
