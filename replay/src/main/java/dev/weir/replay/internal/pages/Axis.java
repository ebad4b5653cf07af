package dev.weir.replay.internal.pages;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The marks of an axis: their places and their texts. */
public final class Axis {
  private static final long SECOND = 1_000_000_000L;
  private static final long DAY = 86_400 * SECOND;

  private static final long[] STEPS = {
    1_000_000L,
    10_000_000L,
    100_000_000L,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    300 * SECOND,
    600 * SECOND,
    900 * SECOND,
    1_800 * SECOND,
    3_600 * SECOND,
    7_200 * SECOND,
    10_800 * SECOND,
    21_600 * SECOND,
    43_200 * SECOND,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    91 * DAY,
    364 * DAY
  };

  /** The most marks on the axis of time: so many texts still fit on a wide screen. */
  private static final int MOST = 12;

  /** The most marks if their texts have seconds. */
  private static final int MOST_SECONDS = 9;

  /** The last place at which a text has room before that of the end. */
  private static final double LAST = 0.92;

  private static final double LAST_SECONDS = 0.87;

  /** The time before which times are no dates: those of a trace that begins at 0. */
  private static final long FIRST_DATE = 366 * DAY;

  /** A mark: its place along the axis, 0 to 1, and its text. */
  record Mark(double at, String text) {}

  private Axis() {}

  /** Returns marks of time at round instants. */
  static List<Mark> time(long fromNanos, long toNanos) {
    long span = Math.max(1, toNanos - fromNanos);
    int i = 0;
    while (i < STEPS.length - 1
        && span / STEPS[i] >= (STEPS[i] < 60 * SECOND ? MOST_SECONDS : MOST)) {
      i++;
    }
    long step = STEPS[i];
    String longer = step >= DAY ? "d MMM" : step >= 60 * SECOND ? "HH:mm" : "HH:mm:ss";
    String pattern = step < SECOND ? "HH:mm:ss.SSS" : longer;
    List<Mark> marks = new ArrayList<>();
    for (long at = fromNanos + Math.floorMod(-fromNanos, step); at < toNanos; at += step) {
      boolean midnight = step < DAY && at % DAY == 0;
      String text = text(midnight ? "d MMM" : pattern, at);
      double along = (at - fromNanos) / (double) span;
      if (along <= (step < 60 * SECOND ? LAST_SECONDS : LAST)) {
        marks.add(new Mark(along, text));
      }
    }
    String end = text(pattern, toNanos);
    boolean again =
        step < DAY && !marks.isEmpty() && marks.get(marks.size() - 1).text().equals(end);
    marks.add(new Mark(1, again ? text("HH:mm:ss", toNanos) : end));
    return marks;
  }

  /**
   * Returns an instant as text for people, in UTC. An instant of a trace that begins at 0 has no
   * date: it is the time since then.
   *
   * @param pattern the pattern of a date, with {@code HH:mm} and so on for the time
   */
  static String text(String pattern, long nanos) {
    if (!relative(nanos)) {
      return formatter(pattern).format(instant(nanos));
    }
    long hours = nanos / (3_600 * SECOND);
    String rest = pattern.contains("ss") ? pattern.substring(pattern.indexOf("mm")) : "mm";
    return String.format(Locale.ROOT, "+%02d:", hours) + formatter(rest).format(instant(nanos));
  }

  /** Returns whether a time is before the first date, so that it is no time of the calendar. */
  static boolean relative(long nanos) {
    return nanos >= 0 && nanos < FIRST_DATE;
  }

  private static DateTimeFormatter formatter(String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
  }

  private static Instant instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, SECOND), Math.floorMod(nanos, SECOND));
  }

  /** Returns the end of an axis from 0 on which that value has room: 1, 2 or 5 times 10^n. */
  static double end(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(Math.max(value, 1e-9))));
    for (double factor : new double[] {1, 1.5, 2, 3, 4, 5, 6, 8}) {
      if (value <= factor * power * 1.000001) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  /** Returns marks on an axis of percent, such that 100 has one. */
  static List<Mark> percent(double end) {
    if (end <= 100 || end > 500) {
      return linear(end);
    }
    List<Mark> marks = new ArrayList<>();
    for (int at = 0; at <= end; at += 100) {
      marks.add(new Mark(at / end, Integer.toString(at)));
    }
    return marks;
  }

  /** Returns marks at 0, half and all of the axis. */
  static List<Mark> linear(double end) {
    return List.of(new Mark(0, "0"), new Mark(0.5, value(end / 2)), new Mark(1, value(end)));
  }

  /**
   * Returns marks at the powers of ten from {@code from} to {@code to}, which both are powers of
   * ten; if they are shares, the lowest mark stands for none at all.
   */
  static List<Mark> powers(double from, double to, boolean percent) {
    double span = Math.log10(to / from);
    List<Mark> marks = new ArrayList<>();
    for (int i = 0; i <= Math.round(span); i++) {
      double value = from * Math.pow(10, i);
      String text = percent ? value(100 * value) + " %" : value(value);
      marks.add(new Mark(i / span, percent && i == 0 ? "none" : text));
    }
    return marks;
  }

  /** Returns a number in the form for an axis. */
  public static String value(double value) {
    if (value >= 1e6) {
      return plain(value / 1e6) + "M";
    }
    return value >= 1e4 ? plain(value / 1e3) + "k" : plain(value);
  }

  private static String plain(double value) {
    String text = String.format(Locale.ROOT, "%.4f", value);
    return text.replaceAll("\\.?0+$", "");
  }
}
