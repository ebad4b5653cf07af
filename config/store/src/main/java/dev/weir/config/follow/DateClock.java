package dev.weir.config.follow;

import dev.weir.Ticker;
import java.time.DateTimeException;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/**
 * A wall clock for a database that offers no clock, but dates its answers by HTTP's field {@code
 * Date}: this process's own clock, as long as it agrees with these dates, which are whole seconds.
 * Safe for use by many threads.
 */
public final class DateClock {
  private static final long SECOND_NANOS = 1_000_000_000L;

  private final Ticker wall;
  private volatile long aheadNanos;

  /**
   * Creates a clock without any date yet.
   *
   * @param wall this process's wall clock
   */
  public DateClock(Ticker wall) {
    this.wall = wall;
  }

  /** Notes the date of an answer that has just arrived; ignores a text that is not a date. */
  public void received(String date) {
    long second;
    try {
      second =
          ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toEpochSecond()
              * SECOND_NANOS;
    } catch (DateTimeException e) {
      return;
    }
    long own = wall.nanos();
    long least = second - own;
    aheadNanos = least > 0 ? least : Math.min(0, least + SECOND_NANOS);
  }

  /**
   * Returns the database's time in nanoseconds since the epoch, to within a second and the time
   * that the last answer took.
   */
  public long nanos() {
    return wall.nanos() + aheadNanos;
  }
}
