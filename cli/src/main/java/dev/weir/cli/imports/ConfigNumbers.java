package dev.weir.cli.imports;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Numbers and times as configurations have them. */
final class ConfigNumbers {
  private static final Pattern TIME = Pattern.compile("([0-9.]+)\\s*([a-zµ]*)");

  /** The nanoseconds of each unit. */
  private static final Map<String, Long> UNITS =
      Map.of(
          "ns", 1L,
          "us", 1_000L,
          "µs", 1_000L,
          "ms", 1_000_000L,
          "s", 1_000_000_000L,
          "m", 60_000_000_000L,
          "h", 3_600_000_000_000L,
          "d", 86_400_000_000_000L);

  /** The longest time that is read, far more than a rule may have. */
  private static final Duration MOST = Duration.ofDays(100_000);

  private ConfigNumbers() {}

  /** Returns a whole number of at most 15 digits; null if the text is none. */
  static @Nullable Long whole(String text) {
    String plain = text.strip().replace("_", "");
    return plain.matches("\\d{1,15}") ? Long.parseLong(plain) : null;
  }

  /**
   * Returns a time such as {@code 1s}, {@code 0.5s}, {@code 1h30m}, {@code PT1S} or a number; null
   * if the text is none.
   *
   * @param unit of a number without one
   */
  static @Nullable Duration time(String text, String unit) {
    String plain = text.strip();
    if (plain.startsWith("P") || plain.startsWith("p")) {
      try {
        Duration time = Duration.parse(plain);
        return time.isNegative() || time.compareTo(MOST) > 0 ? null : time;
      } catch (DateTimeParseException e) {
        return null;
      }
    }
    Matcher part = TIME.matcher(plain.toLowerCase(Locale.ROOT));
    BigDecimal nanos = BigDecimal.ZERO;
    int end = 0;
    while (part.find() && part.start() == end) {
      Long each = UNITS.get(part.group(2).isEmpty() ? unit : part.group(2));
      if (each == null || !part.group(1).matches("\\d{1,15}(\\.\\d{1,9})?")) {
        return null;
      }
      nanos = nanos.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(each)));
      end = part.end();
    }
    boolean fits = nanos.compareTo(BigDecimal.valueOf(MOST.toNanos())) <= 0;
    return end == 0 || end < plain.length() || !fits ? null : Duration.ofNanos(nanos.longValue());
  }
}
