package dev.weir.rules;

/**
 * The text form of durations in rules, flags and settings: {@code 90s}, {@code 1h30m}, {@code
 * 250ms}, and {@code 0}.
 */
public final class DurationText {
  /** The description of a duration in messages. */
  public static final String EXPECTED =
      "numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms)";

  private static final String[] UNITS = {"w", "d", "h", "m", "s", "ms"};
  private static final long[] NANOS = {
    604_800_000_000_000L,
    86_400_000_000_000L,
    3_600_000_000_000L,
    60_000_000_000L,
    1_000_000_000L,
    1_000_000L
  };

  /**
   * The most digits of a duration. Nine digits of weeks overflow, which is caught; more digits are
   * never a duration.
   */
  private static final int MAX_DIGITS = 15;

  private DurationText() {}

  /**
   * Returns nanoseconds, or -1 if the text is not a duration. A value that exceeds a long is
   * returned as {@link Long#MAX_VALUE}.
   */
  public static long parse(String text) {
    if (text.equals("0")) {
      return 0; // Zero is zero in every unit.
    }
    long total = 0;
    int nextUnit = 0;
    int at = 0;
    while (at < text.length()) {
      int digits = at;
      while (digits < text.length() && isDigit(text.charAt(digits))) {
        digits++;
      }
      int letters = digits;
      while (letters < text.length() && !isDigit(text.charAt(letters))) {
        letters++;
      }
      int unit = unit(text.substring(digits, letters), nextUnit);
      if (digits == at || digits - at > MAX_DIGITS || unit < 0) {
        return -1;
      }
      total = saturatingAdd(total, Long.parseLong(text.substring(at, digits)), NANOS[unit]);
      nextUnit = unit + 1;
      at = letters;
    }
    return text.isEmpty() ? -1 : total;
  }

  /**
   * Returns the duration in nanoseconds.
   *
   * @param name what the value is for, such as a flag
   * @throws IllegalArgumentException if the text is no duration, or not within the range
   */
  public static long read(String name, String text, long minNanos, long maxNanos) {
    long nanos = parse(text);
    if (nanos < 0 || nanos < minNanos || nanos > maxNanos) {
      throw ValueErrors.error(
          name,
          ShownText.plain(text),
          format(minNanos) + ".." + format(maxNanos) + ", for example 500ms, 90s, 1h30m");
    }
    return nanos;
  }

  /** Returns the shortest text that stands for the duration; nanoseconds below 1 ms are kept. */
  public static String format(long nanos) {
    StringBuilder text = new StringBuilder();
    long rest = nanos;
    // A week is left out: 7d means the same and is what people write.
    for (int unit = 1; unit < UNITS.length; unit++) {
      if (rest >= NANOS[unit]) {
        text.append(rest / NANOS[unit]).append(UNITS[unit]);
        rest %= NANOS[unit];
      }
    }
    if (nanos == 0) {
      return "0s";
    }
    if (rest > 0) {
      text.append(rest).append("ns");
    }
    return text.toString();
  }

  private static int unit(String name, int from) {
    for (int unit = from; unit < UNITS.length; unit++) {
      if (UNITS[unit].equals(name)) {
        return unit;
      }
    }
    return -1;
  }

  private static long saturatingAdd(long total, long count, long nanos) {
    try {
      return Math.addExact(total, Math.multiplyExact(count, nanos));
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE;
    }
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
