package dev.weir.traffic.internal.values;

import dev.weir.Ticker;
import dev.weir.internal.Choice;
import dev.weir.rules.ShownText;
import java.time.ZoneOffset;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A reader of instants in the usual forms, to the nanosecond, straight from bytes. The form is
 * recognized from the value itself:
 *
 * <ul>
 *   <li>a number: seconds since the Unix epoch, or by its size milliseconds (from 1e11),
 *       microseconds (from 1e14) or nanoseconds (from 1e17), each with or without a fraction;
 *   <li>{@code 2015-05-17T10:05:03.25+02:00}, also with a space for the T, with slashes, with a
 *       comma before the fraction, without seconds or time of day;
 *   <li>{@code 17/May/2015:10:05:03 +0000} as in access logs, also with a space for the colon;
 *   <li>{@code Sun, 17 May 2015 10:05:03 GMT} as in mail and HTTP.
 * </ul>
 *
 * <p>For a time without a zone, the {@link WallClock} determines the instant. Digits beyond the
 * nanosecond are cut off. Not safe for use by several threads.
 */
public final class TimeReader {
  /*
   * Why not java.time's formatters, or a library for logs? A record's time is a slice of bytes, and
   * a formatter needs a text; a log has all of these forms, and a formatter has one; digits beyond
   * the nanosecond are cut off, and a formatter refuses them. NumberTimes reads numbers, DateTimes
   * the other forms.
   */

  /** The unit of a number. */
  public enum Unit {
    /** The unit that the number's size suggests. */
    BY_SIZE(0, ""),
    /** No unit: the column's times are written in another way, and a number is not a time. */
    NONE(0, ""),
    SECONDS(9, "s"),
    MILLISECONDS(6, "ms"),
    MICROSECONDS(3, "us"),
    NANOSECONDS(0, "ns");

    /** The number of decimal places between the unit and nanoseconds. */
    private final int places;

    /** The unit's name in flags. */
    private final String flag;

    Unit(int places, String flag) {
      this.places = places;
      this.flag = flag;
    }

    public int places() {
      return places;
    }

    public String words() {
      return Choice.text(this);
    }

    public String flag() {
      return flag;
    }

    /** Returns the unit with that name in flags, or null. */
    public static @Nullable Unit named(String flag) {
      for (Unit unit : values()) {
        if (!unit.flag.isEmpty() && unit.flag.equals(flag)) {
          return unit;
        }
      }
      return null;
    }
  }

  /** The bound of instants that a limiter can count with: 1860 to 2079. */
  public static final long MAX_NANOS = Ticker.HORIZON_NANOS;

  private static final String EXPECTED =
      "epoch seconds or milliseconds, 2015-05-17T10:05:03Z, 2015-05-17 10:05:03,"
          + " 17/May/2015:10:05:03 +0000 or Sun, 17 May 2015 10:05:03 GMT";

  private static final int MAX_LENGTH = 100;

  private final WallClock clock;
  private final NumberTimes numbers;
  private final DateTimes dates;
  private boolean brackets;

  /** The text that was read last; at the beginning "0", which is 0 in every unit. */
  private byte[] last = {'0'};

  private int lastLength = 1;
  private long lastNanos;

  private boolean lastZoned = true;
  private int lastOffset;

  /** True if the time has a zone, as a number does. */
  private boolean zoned;

  /** The offset of that zone in seconds. */
  private int offset;

  /** Returns a reader for which a time without a zone is UTC. */
  public TimeReader(Unit unit) {
    this(unit, new WallClock(ZoneOffset.UTC));
  }

  public TimeReader(Unit unit, WallClock clock) {
    this.clock = clock;
    numbers = new NumberTimes(unit);
    dates = new DateTimes(clock);
  }

  /** Allows a time in brackets, for formats in which values are delimited in another way. */
  public TimeReader allowBrackets(boolean allow) {
    brackets = allow;
    return this;
  }

  /**
   * Returns the instant in nanoseconds since the Unix epoch.
   *
   * @throws UnreadableException if it is not an instant, or not within 1860 to 2079
   */
  public long nanos(byte[] bytes, int from, int to) throws UnreadableException {
    if (Arrays.equals(bytes, from, to, last, 0, lastLength) && (lastZoned || !clock.hasStamps())) {
      return lastNanos; // A busy log repeats the same second.
    }
    zoned = true;
    offset = 0;
    long nanos = read(bytes, from, to);
    lastLength = to - from;
    if (lastLength > last.length) {
      last = new byte[lastLength];
    }
    System.arraycopy(bytes, from, last, 0, lastLength);
    lastNanos = nanos;
    lastZoned = zoned;
    lastOffset = offset;
    return nanos;
  }

  /** Returns whether the time that was read last has a zone, as a number does. */
  public boolean zoned() {
    return lastZoned;
  }

  /** Returns the offset of that zone in seconds. */
  public int offsetSeconds() {
    return lastOffset;
  }

  private long read(byte[] bytes, int from, int to) throws UnreadableException {
    int start = from;
    int end = to;
    while (start < end && bytes[start] == ' ') {
      start++;
    }
    while (end > start && bytes[end - 1] == ' ') {
      end--;
    }
    if (brackets && end - start > 2 && bytes[start] == '[' && bytes[end - 1] == ']') {
      start++;
      end--;
    }
    if (end - start == 0 || end - start > MAX_LENGTH) {
      throw wrong(bytes, start, end);
    }
    DateTimes.Form form = DateTimes.form(bytes, start, end);
    if (form == DateTimes.Form.NONE) {
      return numbers.nanos(bytes, start, end);
    }
    long nanos = dates.nanos(form, bytes, start, end);
    zoned = dates.zoned();
    offset = dates.offsetSeconds();
    return nanos;
  }

  /** Returns the error for a text that is not an instant. */
  static UnreadableException wrong(byte[] data, int from, int to) {
    return new UnreadableException(
        "time: " + ShownText.quoted(data, from, to) + " (expected: " + EXPECTED + ")");
  }

  /** Returns the error for an instant that a limiter cannot count with. */
  static UnreadableException outOfRange(byte[] data, int from, int to) {
    return new UnreadableException(
        "time: " + ShownText.quoted(data, from, to) + " (expected: from 1860 to 2079)");
  }
}
