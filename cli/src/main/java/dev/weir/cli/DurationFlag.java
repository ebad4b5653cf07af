package dev.weir.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads lengths of time as flags have them: {@code 500ms}, {@code 90s}, {@code 15m}, {@code 7d}.
 */
final class DurationFlag {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private static final Duration LEAST = Duration.ofMillis(1);
  private static final Duration MOST = Duration.ofDays(366);

  private DurationFlag() {}

  /**
   * Returns the duration, 1 ms to 366 days, as everything takes it that has a duration.
   *
   * @throws IllegalArgumentException if the text is none, or out of that range; the message shows
   *     what was typed
   */
  static Duration duration(String flag, String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          flag + ": " + text + " (expected: a number and a unit, such as 500ms, 90s, 15m, 6h, 7d)");
    }
    long count = Long.parseLong(matcher.group(1));
    Duration duration =
        switch (matcher.group(2)) {
          case "ms" -> Duration.ofMillis(count);
          case "s" -> Duration.ofSeconds(count);
          case "m" -> Duration.ofMinutes(count);
          case "h" -> Duration.ofHours(count);
          default -> Duration.ofDays(count);
        };
    if (duration.compareTo(LEAST) < 0 || duration.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(flag + ": " + text + " (expected: 1ms..366d)");
    }
    return duration;
  }
}
