package dev.weir.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads lengths of time as flags have them: {@code 500ms}, {@code 90s}, {@code 15m}, {@code 7d}.
 */
final class DurationFlag {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private DurationFlag() {}

  /**
   * Returns the duration.
   *
   * @throws IllegalArgumentException if the text is none; the message says what was expected
   */
  static Duration duration(String flag, String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          flag + ": " + text + " (expected: a number and a unit, such as 500ms, 90s, 15m, 6h, 7d)");
    }
    long count = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(count);
      case "s" -> Duration.ofSeconds(count);
      case "m" -> Duration.ofMinutes(count);
      case "h" -> Duration.ofHours(count);
      default -> Duration.ofDays(count);
    };
  }
}
