package dev.weir.traffic.internal.values;

import dev.weir.traffic.internal.values.TimeReader.Unit;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

/**
 * A reader of times that are numbers since the Unix epoch, with or without a fraction. Not safe for
 * use by several threads.
 */
final class NumberTimes {
  /*
   * Numbers never pass through a double, which cannot hold today's nanoseconds.
   */

  /** The largest scale of a number with an exponent. */
  private static final int MAX_SCALE = 100;

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
  private byte[] data = new byte[0];
  private int start;
  private int end;
  private int at;

  NumberTimes(Unit unit) {
    this.unit = unit;
  }

  /**
   * Returns the instant in nanoseconds since the Unix epoch.
   *
   * @throws UnreadableException if it is not a number, or not within 1860 to 2079
   */
  long nanos(byte[] bytes, int from, int to) throws UnreadableException {
    data = bytes;
    start = from;
    at = from;
    end = to;
    return number();
  }

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
    if (value > TimeReader.MAX_NANOS / POWERS[places]) {
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
      return unit.places();
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
      if (value.scale() > MAX_SCALE) {
        throw wrong(); // Writing out its exponent would take very long.
      }
      if ((long) value.precision() - value.scale() > 20) {
        throw outOfRange();
      }
      int places = places(value.abs().min(BigDecimal.valueOf(POWERS[18])).longValue());
      BigDecimal nanos = value.scaleByPowerOfTen(places);
      if (nanos.abs().compareTo(BigDecimal.valueOf(TimeReader.MAX_NANOS)) > 0) {
        throw outOfRange();
      }
      return nanos.setScale(0, RoundingMode.FLOOR).longValueExact();
    } catch (NumberFormatException e) {
      throw wrong();
    }
  }

  private long inRange(long nanos) throws UnreadableException {
    if (nanos > TimeReader.MAX_NANOS || nanos < -TimeReader.MAX_NANOS) {
      throw outOfRange();
    }
    return nanos;
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
}
