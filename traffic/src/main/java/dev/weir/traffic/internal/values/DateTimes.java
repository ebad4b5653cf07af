package dev.weir.traffic.internal.values;

import dev.weir.rules.ShownText;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;

/**
 * A reader of times that are a date and a time of day. The calendar is that of {@link LocalDate}.
 * Not safe for use by several threads.
 */
final class DateTimes {
  /** The form of a time. */
  enum Form {
    /** The form of no date, such as that of a number. */
    NONE,
    ISO,
    ACCESS_LOG,
    MAIL
  }

  private static final String MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
  private static final long NANOS = 1_000_000_000L;

  private final WallClock clock;
  private byte[] data = new byte[0];
  private int start;
  private int end;
  private int at;
  private boolean zoned;
  private int offset;

  /**
   * @param clock the clock of times without a zone
   */
  DateTimes(WallClock clock) {
    this.clock = clock;
  }

  /** Returns the form that a text which is not empty has by its first bytes. */
  static Form form(byte[] data, int from, int to) {
    if (isLetter(data[from]) || isMailDate(data, from, to)) {
      return Form.MAIL;
    }
    if (to - from > 4 && isDigit(data[from]) && (data[from + 4] == '-' || data[from + 4] == '/')) {
      return Form.ISO;
    }
    return to - from > 2 && data[from + 2] == '/' ? Form.ACCESS_LOG : Form.NONE;
  }

  private static boolean isMailDate(byte[] data, int from, int to) {
    int digits = isDigit(data[from]) && from + 1 < to && data[from + 1] == ' ' ? 1 : 2;
    int space = from + digits;
    return space + 1 < to && data[space] == ' ' && isLetter(data[space + 1]);
  }

  /**
   * Returns the instant in nanoseconds since the Unix epoch.
   *
   * @throws UnreadableException if it is not an instant of that form, or not within 1860 to 2079
   */
  long nanos(Form form, byte[] bytes, int from, int to) throws UnreadableException {
    data = bytes;
    start = from;
    at = from;
    end = to;
    return switch (form) {
      case ISO -> iso();
      case ACCESS_LOG -> accessLog();
      case MAIL -> mail();
      case NONE -> throw wrong();
    };
  }

  /** Returns whether the time that was read last has a zone. */
  boolean zoned() {
    return zoned;
  }

  /** Returns the offset of that zone in seconds, 0 without one. */
  int offsetSeconds() {
    return offset;
  }

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
      offset = 0;
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
    for (; digits < 9; digits++) {
      value *= 10;
    }
    return value;
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
    if (Math.abs(seconds) >= TimeReader.MAX_NANOS / NANOS) {
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

  private UnreadableException wrong() {
    return TimeReader.wrong(data, start, end);
  }

  private UnreadableException outOfRange() {
    return TimeReader.outOfRange(data, start, end);
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isLetter(byte b) {
    return (b | 32) >= 'a' && (b | 32) <= 'z';
  }
}
