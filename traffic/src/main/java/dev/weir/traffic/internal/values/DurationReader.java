package dev.weir.traffic.internal.values;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of the time that a request took: a number in the unit of its column, or with a unit
 * behind it ({@code 12ms}, {@code 0.25s}). Immutable.
 */
public final class DurationReader {
  /** The result for a value that stands for an absent one: nothing, {@code -} or {@code -1}. */
  public static final long MISSING = -1;

  /** The result for a number below zero other than -1. */
  public static final long NEGATIVE = -2;

  /** The result for any other text, and for more than {@link #MAX_NANOS}. */
  public static final long UNREADABLE = -3;

  /** The longest duration, 366 days in nanoseconds, as the longest window of a limit. */
  public static final long MAX_NANOS = 366L * 86_400 * 1_000_000_000;

  /** The most digits that fit a long, whatever they are. */
  private static final int MOST_DIGITS = 18;

  private static final int MAX_LENGTH = 40;

  private static final Pattern NUMBER =
      Pattern.compile(
          "([+-]?)(\\d+(?:\\.\\d*)?|\\.\\d+)((?:[eE][+-]?\\d{1,3})?)(ns|us|\u00b5s|ms|s)?");

  private static final Map<String, TimeReader.Unit> SUFFIXES =
      Map.of(
          "ns", TimeReader.Unit.NANOSECONDS,
          "us", TimeReader.Unit.MICROSECONDS,
          "\u00b5s", TimeReader.Unit.MICROSECONDS,
          "ms", TimeReader.Unit.MILLISECONDS,
          "s", TimeReader.Unit.SECONDS);

  private final TimeReader.Unit unit;

  /**
   * @param unit the unit of a number without one behind it
   */
  public DurationReader(TimeReader.Unit unit) {
    this.unit = unit;
  }

  /**
   * Returns the duration in nanoseconds, 0 to {@link #MAX_NANOS}, rounded up; or one of the
   * negative results.
   */
  public long nanos(byte[] bytes, int from, int to) {
    int start = from;
    int end = to;
    while (start < end && bytes[start] == ' ') {
      start++;
    }
    while (end > start && bytes[end - 1] == ' ') {
      end--;
    }
    if (start == end || (end - start == 1 && bytes[start] == '-')) {
      return MISSING;
    }
    long whole = 0;
    int at = start;
    while (at < end && at - start < MOST_DIGITS && bytes[at] >= '0' && bytes[at] <= '9') {
      whole = 10 * whole + bytes[at++] - '0';
    }
    if (at == end && unit.places() == 0) { // A whole number of nanoseconds needs no arithmetic.
      return whole > MAX_NANOS ? UNREADABLE : whole;
    }
    return end - start > MAX_LENGTH
        ? UNREADABLE
        : nanos(new String(bytes, start, end - start, StandardCharsets.UTF_8));
  }

  private long nanos(String text) {
    Matcher matcher = NUMBER.matcher(text);
    if (!matcher.matches()) {
      return UNREADABLE;
    }
    if (matcher.group(1).equals("+")) {
      return MISSING; // HAProxy logged it before the end (option logasap), so it is no duration.
    }
    String suffix = matcher.group(4);
    TimeReader.Unit of = suffix == null ? unit : SUFFIXES.getOrDefault(suffix, unit);
    BigDecimal number = new BigDecimal(matcher.group(2) + matcher.group(3));
    if (matcher.group(1).equals("-") && number.signum() > 0) {
      return number.compareTo(BigDecimal.ONE) == 0 ? MISSING : NEGATIVE;
    }
    BigDecimal nanos = number.movePointRight(of.places());
    return nanos.compareTo(BigDecimal.valueOf(MAX_NANOS)) > 0
        ? UNREADABLE
        : nanos.setScale(0, RoundingMode.UP).longValue();
  }
}
