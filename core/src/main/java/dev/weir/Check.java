package dev.weir;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Checks of arguments, whose messages read {@code name: value (expected: constraint)}. */
final class Check {
  private Check() {}

  static long range(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + ".." + max + ")");
    }
    return value;
  }

  /**
   * Returns the value.
   *
   * @throws NullPointerException if it is null; the message names the argument, which the JVM's own
   *     does not
   */
  static <T> T notNull(String name, @Nullable T value) {
    if (value == null) {
      throw new NullPointerException(name + ": null (expected: a value)");
    }
    return value;
  }

  static long nanos(String name, Duration value) {
    try {
      return notNull(name, value).toNanos();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: at most " + Duration.ofNanos(Long.MAX_VALUE) + ")", e);
    }
  }
}
