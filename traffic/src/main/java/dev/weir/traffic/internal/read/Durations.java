package dev.weir.traffic.internal.read;

import dev.weir.traffic.RequestDurations;
import dev.weir.traffic.TimeMeaning;
import dev.weir.traffic.internal.values.DurationReader;
import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import java.util.List;

/**
 * The durations of records: when each request began, how long it took, and how many records do not
 * say it. Not safe for use by several threads.
 */
public final class Durations {
  private static final long SECOND = 1_000_000_000L;

  private final DurationColumns columns;
  private final int[] slots;
  private final DurationReader reader;
  private final TimeReader ends = new TimeReader(TimeReader.Unit.BY_SIZE);
  private long records;
  private long wholeSeconds;
  private long missing;
  private long negative;
  private long unreadable;

  /**
   * @param selected the columns of a record by their slots
   */
  public Durations(DurationColumns columns, List<String> selected) {
    this.columns = columns;
    slots = columns.columns().stream().mapToInt(selected::indexOf).toArray();
    reader = new DurationReader(columns.unit());
  }

  /**
   * Counts a record.
   *
   * @param timeNanos the time that the record has
   * @return the time at which its request began, in nanoseconds since the Unix epoch: the record's
   *     own time, unless that is the end's and the duration is known
   */
  public long begin(RecordValues values, long timeNanos) {
    records++;
    wholeSeconds += timeNanos % SECOND == 0 ? 1 : 0;
    long nanos = read(values, timeNanos);
    missing += nanos == DurationReader.MISSING ? 1 : 0;
    negative += nanos == DurationReader.NEGATIVE ? 1 : 0;
    unreadable += nanos == DurationReader.UNREADABLE ? 1 : 0;
    return columns.timeIs() == TimeMeaning.END && nanos > 0 ? timeNanos - nanos : timeNanos;
  }

  /**
   * Returns the duration of a record in nanoseconds; -1 if it is not known.
   *
   * @param beginNanos the begin of its request, as {@link #begin} has returned it
   */
  public long nanos(RecordValues values, long beginNanos) {
    return Math.max(-1, read(values, beginNanos));
  }

  private long read(RecordValues values, long timeNanos) {
    if (columns.unit() == TimeReader.Unit.BY_SIZE) {
      return untilEnd(values, slots[0], timeNanos);
    }
    long sum = 0;
    for (int slot : slots) {
      long nanos = reader.nanos(values.data(slot), values.from(slot), values.to(slot));
      if (nanos < 0) {
        return nanos;
      }
      sum += nanos;
    }
    return sum > DurationReader.MAX_NANOS ? DurationReader.UNREADABLE : sum;
  }

  /** Returns the time from the begin to an end that the record has as a time. */
  private long untilEnd(RecordValues values, int slot, long beginNanos) {
    if (values.from(slot) == values.to(slot)) {
      return DurationReader.MISSING;
    }
    try {
      long nanos = ends.nanos(values.data(slot), values.from(slot), values.to(slot)) - beginNanos;
      if (nanos < 0) {
        return DurationReader.NEGATIVE;
      }
      return nanos > DurationReader.MAX_NANOS ? DurationReader.UNREADABLE : nanos;
    } catch (UnreadableException e) {
      return DurationReader.UNREADABLE;
    }
  }

  /** Returns a description of the durations so far. */
  public RequestDurations read() {
    String unit = columns.unit() == TimeReader.Unit.BY_SIZE ? "" : columns.unit().words();
    return new RequestDurations(
        columns.name(), unit, columns.timeIs(), missing, negative, unreadable);
  }

  /** Returns the peculiarities of the records so far, one line each. */
  public List<String> notes() {
    return records > 1 && records == wholeSeconds
        ? List.of(
            "time: in whole seconds, so a begin or end is up to a second too early (expected: a log"
                + " with fractions of a second, such as $msec of nginx and --time msec)")
        : List.of();
  }
}
