package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.time.Duration;
import java.util.Locale;

/** Counts records that are earlier than one before them. */
final class Order {
  private long records;
  private long latestNanos = Long.MIN_VALUE;
  private long latestLine;
  private long outOfOrder;
  private long furthestNanos;
  private String where = "";

  /** Looks at the record that a source is at. */
  void next(Source source) {
    next(source.timeNanos(), source.line(), source);
  }

  private void next(long timeNanos, long line, Source source) {
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
              + ShownText.quoted(source.input().name())
              + ", behind line "
              + latestLine;
    }
    furthestNanos = Math.max(furthestNanos, latestNanos - timeNanos);
  }

  /** Returns how many records are earlier than one before them. */
  long outOfOrder() {
    return outOfOrder;
  }

  /** Returns by how much they are earlier at most. */
  long furthestNanos() {
    return furthestNanos;
  }

  /** Refuses the order if more than so many in a hundred are earlier than one before them. */
  void check(int percent) throws TrafficException {
    if (100 * outOfOrder > percent * records) {
      throw new TrafficException(
          String.format(
              Locale.ROOT,
              "order: %,d of %,d records are earlier than a record before them, by up to %s; %s"
                  + " (expected: at most %d %% of them; --sort puts all in order, in bounded"
                  + " memory)",
              outOfOrder,
              records,
              text(furthestNanos),
              where,
              percent));
    }
  }

  /** Returns a length of time to the second, or shorter ones to the millisecond. */
  static String text(long nanos) {
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
