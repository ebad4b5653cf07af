package dev.weir.http;

import dev.weir.rules.ShownText;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * The checks of the settings of a {@link RequestLimiter}: a limiter that limits nothing is a
 * mistake.
 */
final class LimiterSettings {
  private static final int LEAST_STATUS = 100;
  private static final int MOST_STATUS = 599;

  /** The text for all origins. */
  static final String ANY_ORIGIN = "*";

  private static final Pattern METHOD = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");

  /**
   * The form in which browsers write an origin: in small letters, and with nothing behind the port.
   */
  private static final Pattern ORIGIN =
      Pattern.compile(
          "[a-z][a-z0-9+.-]{0,31}://(?:[a-z0-9._-]{1,253}|\\[[0-9a-f:.]{2,45}])(?::\\d{1,5})?");

  private LimiterSettings() {}

  static String domain(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("domain: \"\" (expected: at least 1 character)");
    }
    return name;
  }

  static String method(String name) {
    if (!METHOD.matcher(name).matches()) {
      throw wrong("methods", name, "a method such as GET");
    }
    return name;
  }

  static String origin(String origin) {
    if (!origin.equals(ANY_ORIGIN) && !ORIGIN.matcher(origin).matches()) {
      throw wrong("allowOrigins", origin, "an origin such as https://shop.example, or *");
    }
    return origin;
  }

  static int status(int status) {
    if (status < LEAST_STATUS || status > MOST_STATUS) {
      throw new IllegalArgumentException(
          "refundUnless: " + status + " (expected: " + LEAST_STATUS + ".." + MOST_STATUS + ")");
    }
    return status;
  }

  /** Returns nanoseconds, the largest number for a longer time. */
  static long maxWaitNanos(Duration longest) {
    if (longest.isNegative()) {
      throw new IllegalArgumentException("maxWait: " + longest + " (expected: at least 0)");
    }
    boolean fits = longest.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0;
    return fits ? longest.toNanos() : Long.MAX_VALUE;
  }

  private static IllegalArgumentException wrong(String name, String value, String expected) {
    return new IllegalArgumentException(
        name + ": " + ShownText.quoted(value) + " (expected: " + expected + ")");
  }
}
