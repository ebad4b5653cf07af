package dev.weir;

import java.time.Duration;

/** Argument checks whose messages read {@code name: value (expected: constraint)}. */
final class Check {
  private Check() {}

  static long range(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
    return value;
  }

  static long nanos(String name, Duration value) {
    try {
      return value.toNanos();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: at most " + Duration.ofNanos(Long.MAX_VALUE) + ")", e);
    }
  }
}
