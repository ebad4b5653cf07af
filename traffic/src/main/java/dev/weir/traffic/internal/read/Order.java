package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import java.time.Duration;
import java.util.Locale;

/**
 * A check of the records' order: it counts records that are earlier than one before them, and finds
 * a clock that was set back.
 */
public final class Order {
  /**
   * The least step back of a clock: summer time ends by an hour, on Lord Howe Island by half an
   * hour.
   */
  private static final long SET_BACK_NANOS = 25 * 60_000_000_000L;

  private static final long SET_BACK_MOST_NANOS = 65 * 60_000_000_000L;

  /** The number of records behind a step after which the clock is known to go on from there. */
  private static final int FOLLOWING = 5;

  /** The largest step between records behind a clock that was set back. */
  private static final long STEP_NANOS = 10 * 60_000_000_000L;

  private long records;
  private long latestNanos = Long.MIN_VALUE;
  private long latestLine;
  private long outOfOrder;
  private long furthestNanos;
  private String where = "";

  /** The time of the last record without a zone. */
  private long localNanos = Long.MIN_VALUE;

  private int following;
  private String step = "";
  private String setBack = "";

  /** Checks the current record of an input. */
  public void next(OpenedInput opened) {
    next(opened.timeNanos(), opened.line(), opened);
    if (opened.assumedUtc() && setBack.isEmpty()) {
      local(opened.timeNanos(), opened);
    }
  }

  /**
   * Checks a time with an unknown zone: after a long step back, times that go on from there are
   * those of a clock that was set back, and not of slow requests.
   */
  private void local(long timeNanos, OpenedInput opened) {
    long back = localNanos - timeNanos;
    if (following > 0) {
      following = Math.abs(back) < STEP_NANOS ? following + 1 : 0;
    } else if (back >= SET_BACK_NANOS && back <= SET_BACK_MOST_NANOS) {
      following = 1;
      step =
          "line "
              + opened.line()
              + " of "
              + ShownText.quoted(opened.input().name())
              + " is "
              + text(back)
              + " earlier than the line before it";
    }
    if (following == FOLLOWING) {
      setBack = step;
    }
    localNanos = timeNanos;
  }

  /** Returns the error if a clock without a known zone was set back; empty if none was. */
  public String setBack() {
    return setBack.isEmpty()
        ? ""
        : "time: "
            + setBack
            + ", as where summer time ends, and the times have no zone (expected: --zone with the"
            + " writer's, such as Europe/Berlin, or UTC)";
  }

  private void next(long timeNanos, long line, OpenedInput opened) {
    records++;
    if (timeNanos >= latestNanos) {
      latestNanos = timeNanos;
      latestLine = line;
      return;
    }
    if (outOfOrder++ == 0) {
      where =
          "the first is line "
              + line
              + " of "
              + ShownText.quoted(opened.input().name())
              + ", behind line "
              + latestLine;
    }
    furthestNanos = Math.max(furthestNanos, latestNanos - timeNanos);
  }

  /** Returns the number of records that are earlier than one before them. */
  public long outOfOrder() {
    return outOfOrder;
  }

  /** Returns the largest time by which a record is earlier. */
  public long furthestNanos() {
    return furthestNanos;
  }

  /**
   * Refuses the order if more than so many in a hundred are earlier than one before them.
   *
   * @param log true if a server wrote the records when it answered the requests
   */
  public void check(int percent, boolean log) throws TrafficException {
    if (100 * outOfOrder > percent * records) {
      throw new TrafficException(
          String.format(
              Locale.ROOT,
              "order: %,d of %,d records are earlier than a record before them, by up to %s; %s%s"
                  + " (expected: at most %d %% of them; --sort puts all in order, in bounded"
                  + " memory)",
              outOfOrder,
              records,
              text(furthestNanos),
              where,
              log ? "; many servers write a request's start when it ends" : "",
              percent));
    }
  }

  /** Returns a length of time, to the second; to the millisecond if it is short. */
  public static String text(long nanos) {
    Duration length = Duration.ofNanos(nanos);
    if (length.toSeconds() < 1) {
      return Math.max(1, length.toMillis()) + " ms";
    }
    StringBuilder text = new StringBuilder();
    part(text, length.toDays(), " d");
    part(text, length.toHoursPart(), " h");
    part(text, length.toMinutesPart(), " min");
    part(text, length.toSecondsPart(), " s");
    return text.toString();
  }

  private static void part(StringBuilder text, long value, String unit) {
    if (value > 0) {
      text.append(text.length() == 0 ? "" : " ").append(value).append(unit);
    }
  }
}
