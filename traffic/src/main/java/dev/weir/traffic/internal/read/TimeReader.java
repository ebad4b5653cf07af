package dev.weir.traffic.internal.read;

import dev.weir.Ticker;
import dev.weir.internal.Choice;
import dev.weir.rules.ShownText;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
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
   * the nanosecond are cut off, and a formatter refuses them. Numbers never pass through a double,
   * which cannot hold today's nanoseconds. The calendar itself is LocalDate's.
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

    int places() {
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
  static final long MAX_NANOS = Ticker.HORIZON_NANOS;

  private static final String EXPECTED =
      "epoch seconds or milliseconds, 2015-05-17T10:05:03Z, 2015-05-17 10:05:03,"
          + " 17/May/2015:10:05:03 +0000 or Sun, 17 May 2015 10:05:03 GMT";

  private static final String MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
  private static final long NANOS = 1_000_000_000L;
  private static final int MAX_LENGTH = 100;

  /**
   * The length of the longest number that is read as a long; a number that does not fit is
   * detected.
   */
  private static final int EASY_DIGITS = 19;

  private static final long[] POWERS = new long[19];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = 10 * POWERS[i - 1];
    }
  }

  private final Unit unit;
  private final WallClock clock;
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

  private byte[] data = new byte[0];
  private int at;
  private int end;
  private int start;

  /** Returns a reader for which a time without a zone is UTC. */
  public TimeReader(Unit unit) {
    this(unit, new WallClock(ZoneOffset.UTC));
  }

  TimeReader(Unit unit, WallClock clock) {
    this.unit = unit;
    this.clock = clock;
  }

  /** Allows a time in brackets, for formats in which values are delimited in another way. */
  TimeReader allowBrackets(boolean allow) {
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
  boolean zoned() {
    return lastZoned;
  }

  /** Returns the offset of that zone in seconds. */
  int offsetSeconds() {
    return lastOffset;
  }

  private long read(byte[] bytes, int from, int to) throws UnreadableException {
    data = bytes;
    start = from;
    end = to;
    while (start < end && data[start] == ' ') {
      start++;
    }
    while (end > start && data[end - 1] == ' ') {
      end--;
    }
    if (brackets && end - start > 2 && data[start] == '[' && data[end - 1] == ']') {
      start++;
      end--;
    }
    at = start;
    if (end - start == 0 || end - start > MAX_LENGTH) {
      throw wrong();
    }
    if (isLetter(data[at]) || isMailDate()) {
      return mail();
    }
    if (end - at > 4 && isDigit(data[at]) && (data[at + 4] == '-' || data[at + 4] == '/')) {
      return iso();
    }
    if (end - at > 2 && data[at + 2] == '/') {
      return accessLog();
    }
    return number();
  }

  private UnreadableException wrong() {
    return new UnreadableException(
        "time: " + ShownText.quoted(data, start, end) + " (expected: " + EXPECTED + ")");
  }

  private UnreadableException outOfRange() {
    return new UnreadableException(
        "time: " + ShownText.quoted(data, start, end) + " (expected: from 1860 to 2079)");
  }

  // Numbers

  private long number() throws UnreadableException {
    if (unit == Unit.NONE) {
      throw wrong();
    }
    boolean negative = data[at] == '-';
    if (negative || data[at] == '+') {
      at++;
    }
    int whole = at;
    long value = 0;
    while (at < end && isDigit(data[at]) && at - whole < EASY_DIGITS) {
      value = 10 * value + data[at++] - '0';
    }
    if (at == whole || value < 0 || (at < end && data[at] != '.')) {
      return unusualNumber();
    }
    int places = places(value);
    long fraction = 0;
    if (at < end) {
      at++;
      int digits = 0;
      int fractionFrom = at;
      while (at < end && isDigit(data[at])) {
        if (digits < places) {
          fraction = 10 * fraction + data[at] - '0';
          digits++;
        }
        at++;
      }
      fraction *= POWERS[places - digits];
      if (at < end || at == fractionFrom) {
        return unusualNumber();
      }
      if (negative && beyond(fractionFrom + digits)) {
        fraction++; // The fraction is cut off towards the past on either side of 1970.
      }
    }
    if (value > MAX_NANOS / POWERS[places]) {
      throw outOfRange();
    }
    long nanos = value * POWERS[places] + fraction;
    return inRange(negative ? -nanos : nanos);
  }

  /** Returns whether there is anything except zeros from there on. */
  private boolean beyond(int from) {
    for (int i = from; i < end; i++) {
      if (data[i] != '0') {
        return true;
      }
    }
    return false;
  }

  private int places(long value) {
    if (unit != Unit.BY_SIZE) {
      return unit.places;
    }
    return value < POWERS[11] ? 9 : value < POWERS[14] ? 6 : value < POWERS[17] ? 3 : 0;
  }

  /** Reads a number with more digits than usual, or with an exponent. */
  private long unusualNumber() throws UnreadableException {
    for (int i = start; i < end; i++) {
      if (!isDigit(data[i]) && "+-.eE".indexOf(data[i]) < 0) {
        throw wrong();
      }
    }
    try {
      BigDecimal value =
          new BigDecimal(new String(data, start, end - start, StandardCharsets.US_ASCII));
      if (value.scale() > MAX_LENGTH) {
        throw wrong(); // Writing out its exponent would take very long.
      }
      if ((long) value.precision() - value.scale() > 20) {
        throw outOfRange();
      }
      int places = places(value.abs().min(BigDecimal.valueOf(POWERS[18])).longValue());
      BigDecimal nanos = value.scaleByPowerOfTen(places);
      if (nanos.abs().compareTo(BigDecimal.valueOf(MAX_NANOS)) > 0) {
        throw outOfRange();
      }
      return nanos.setScale(0, RoundingMode.FLOOR).longValueExact();
    } catch (NumberFormatException e) {
      throw wrong();
    }
  }

  private long inRange(long nanos) throws UnreadableException {
    if (nanos > MAX_NANOS || nanos < -MAX_NANOS) {
      throw outOfRange();
    }
    return nanos;
  }

  // Dates

  /** Reads {@code yyyy-MM-dd[(T| )HH:mm[:ss[.f]][ ][zone]]}. */
  private long iso() throws UnreadableException {
    int year = digits(4);
    byte between = data[at];
    take(between);
    int month = digits(2);
    take(between);
    long day = day(year, month, digits(2));
    if (at == end) {
      zoned = false;
      return instant(day, 0, 0);
    }
    if (data[at] != 'T' && data[at] != 't' && data[at] != ' ') {
      throw wrong();
    }
    at++;
    return timeOfDay(day);
  }

  /** Reads {@code dd/MMM/yyyy:HH:mm:ss zone}, or with a space for the first colon. */
  private long accessLog() throws UnreadableException {
    int dayOfMonth = digits(2);
    take((byte) '/');
    int month = month();
    take((byte) '/');
    long day = day(digits(4), month, dayOfMonth);
    take(at < end && data[at] == ' ' ? (byte) ' ' : (byte) ':');
    return timeOfDay(day);
  }

  /** Reads {@code [EEE, ]d MMM yyyy HH:mm:ss zone}. */
  private long mail() throws UnreadableException {
    if (isLetter(data[at])) {
      while (at < end && isLetter(data[at])) {
        at++;
      }
      take((byte) ',');
      skipSpaces();
    }
    int dayOfMonth = at + 1 < end && data[at + 1] == ' ' ? digits(1) : digits(2);
    take((byte) ' ');
    int month = month();
    take((byte) ' ');
    long day = day(digits(4), month, dayOfMonth);
    take((byte) ' ');
    return timeOfDay(day);
  }

  private boolean isMailDate() {
    int space = data[at] >= '0' && data[at] <= '9' && at + 1 < end && data[at + 1] == ' ' ? 1 : 2;
    return at + space + 1 < end && data[at + space] == ' ' && isLetter(data[at + space + 1]);
  }

  /** Reads {@code HH:mm[:ss[.f]][ ][zone]}, to the end of the text. */
  private long timeOfDay(long day) throws UnreadableException {
    int hour = digits(2);
    take((byte) ':');
    int minute = digits(2);
    int second = 0;
    int fraction = 0;
    if (at < end && data[at] == ':') {
      at++;
      second = digits(2);
      if (at < end && (data[at] == '.' || data[at] == ',')) {
        at++;
        fraction = fraction();
      }
    }
    if (hour > 23 || minute > 59 || second > 60) { // The 60 is a leap second.
      throw wrong();
    }
    skipSpaces();
    zoned = at < end;
    offset = zoned ? zone() : 0;
    return instant(day, 3600L * hour + 60L * minute + second - offset, fraction);
  }

  private int fraction() throws UnreadableException {
    int value = 0;
    int digits = 0;
    while (at < end && isDigit(data[at])) {
      if (digits < 9) {
        value = 10 * value + data[at] - '0';
        digits++;
      }
      at++;
    }
    if (digits == 0) {
      throw wrong();
    }
    return (int) (value * POWERS[9 - digits]);
  }

  /** Returns the zone's offset in seconds. */
  private int zone() throws UnreadableException {
    if (isLetter(data[at])) {
      String name = new String(data, at, end - at, StandardCharsets.US_ASCII);
      if (name.equalsIgnoreCase("Z")
          || name.equalsIgnoreCase("UTC")
          || name.equalsIgnoreCase("GMT")
          || name.equalsIgnoreCase("UT")) {
        return 0;
      }
      throw new UnreadableException(
          "time: zone "
              + ShownText.quoted(name)
              + " (expected: Z, UTC, GMT or an offset like +02:00)");
    }
    boolean west = data[at] == '-';
    if (!west) {
      take((byte) '+');
    } else {
      at++;
    }
    int hours = digits(2);
    int minutes = 0;
    if (at < end) {
      if (data[at] == ':' || (west && data[at] == '-')) {
        at++; // Squid writes -03-30, since its minutes have their own sign.
      }
      minutes = digits(2);
    }
    if (at != end || hours > 18 || minutes > 59) {
      throw wrong();
    }
    int seconds = 3600 * hours + 60 * minutes;
    return west ? -seconds : seconds;
  }

  private long instant(long day, long secondOfDay, int nanos) throws UnreadableException {
    long written = 86_400L * day + secondOfDay;
    long seconds = zoned ? written : clock.epochSecond(written);
    if (Math.abs(seconds) >= MAX_NANOS / NANOS) {
      throw outOfRange();
    }
    return NANOS * seconds + nanos;
  }

  /** Returns the days since 1970-01-01 in the proleptic Gregorian calendar. */
  private long day(int year, int month, int dayOfMonth) throws UnreadableException {
    try {
      return LocalDate.of(year, month, dayOfMonth).toEpochDay();
    } catch (DateTimeException e) {
      throw wrong();
    }
  }

  private int month() throws UnreadableException {
    if (at + 3 > end) {
      throw wrong();
    }
    for (int i = 0; i < MONTHS.length(); i += 3) {
      if ((data[at] | 32) == MONTHS.charAt(i)
          && (data[at + 1] | 32) == MONTHS.charAt(i + 1)
          && (data[at + 2] | 32) == MONTHS.charAt(i + 2)) {
        at += 3;
        return i / 3 + 1;
      }
    }
    throw wrong();
  }

  private int digits(int count) throws UnreadableException {
    if (at + count > end) {
      throw wrong();
    }
    int value = 0;
    for (int i = 0; i < count; i++) {
      byte b = data[at++];
      if (!isDigit(b)) {
        throw wrong();
      }
      value = 10 * value + b - '0';
    }
    return value;
  }

  private void take(byte expected) throws UnreadableException {
    if (at == end || data[at] != expected) {
      throw wrong();
    }
    at++;
  }

  private void skipSpaces() {
    while (at < end && data[at] == ' ') {
      at++;
    }
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isLetter(byte b) {
    return (b | 32) >= 'a' && (b | 32) <= 'z';
  }
}
