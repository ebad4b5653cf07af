package dev.weir;

import java.util.Arrays;

/**
 * The time of day and date at each instant of a store's clock, by which aligned windows begin. One
 * thread steps it; any thread may read it.
 */
final class Calendar {
  /*
   * How does a store follow a calendar whose clock must not be set? The clock decides how long a
   * window is; it may have stood still, and is then behind the calendar by that much. The calendar
   * is the clock plus an offset, and it only steps ahead, so that a window that is over never comes
   * again. Instants in states are the clock's. Each is read by the offset that was in force then:
   * what was charged on Tuesday stays Tuesday's, however often the calendar is stepped, and a step
   * writes no state.
   *
   * A bounded number of steps is remembered. When the earliest is forgotten, instants before it
   * read as later on the calendar by its offset; what was charged then counts at least as long.
   *
   * What does a step cost? If steps within a time of one window are d in all, the calendar passes
   * over ceil(d / W) more edges than it would without them, and each window holds at most the
   * limit. So a time of W, which otherwise holds at most two limits, holds at most min(2, ceil(d /
   * W)) more for one step: a window that a step passes over whole admits nothing.
   */

  /**
   * The most steps that are remembered: a few for each day, for as long as the longest windows
   * last.
   */
  static final int MOST_STEPS = 256;

  private static final Steps NONE = new Steps(new long[] {Long.MIN_VALUE}, new long[] {0});

  private volatile Steps steps = NONE;

  /** The offsets and the instants from which they apply, ascending. Never written again. */
  private static final class Steps {
    final long[] from;
    final long[] offsets;

    Steps(long[] from, long[] offsets) {
      this.from = from;
      this.offsets = offsets;
    }

    int last() {
      return from.length - 1;
    }
  }

  /** Returns what the calendar shows at an instant of the clock. */
  long of(long nanos) {
    Steps known = steps;
    int i = known.last();
    while (i > 0 && nanos < known.from[i]) {
      i--;
    }
    return nanos + known.offsets[i];
  }

  /**
   * Returns the first instant of the clock at which the calendar shows at least {@code
   * calendarNanos}.
   */
  long first(long calendarNanos) {
    Steps known = steps;
    for (int i = known.last(); i > 0; i--) {
      long from = known.from[i];
      if (calendarNanos - known.offsets[i] >= from) {
        return calendarNanos - known.offsets[i];
      }
      if (calendarNanos - known.offsets[i - 1] >= from) {
        return from; // A step passed over it.
      }
    }
    return calendarNanos - known.offsets[0];
  }

  /** Returns by how much the calendar is ahead of the clock now. */
  long offsetNanos() {
    Steps known = steps;
    return known.offsets[known.last()];
  }

  /**
   * Steps the calendar ahead.
   *
   * @param fromNanos the first instant with that offset
   * @return whether it was stepped: it is not set back, nor stepped before an earlier step
   */
  boolean step(long fromNanos, long offsetNanos) {
    Steps known = steps;
    int last = known.last();
    if (offsetNanos <= known.offsets[last] || fromNanos <= known.from[last]) {
      return false;
    }
    long[] from = Arrays.copyOf(known.from, last + 2);
    long[] offsets = Arrays.copyOf(known.offsets, last + 2);
    from[last + 1] = fromNanos;
    offsets[last + 1] = offsetNanos;
    if (from.length > MOST_STEPS) {
      from = Arrays.copyOfRange(from, 1, from.length);
      offsets = Arrays.copyOfRange(offsets, 1, offsets.length);
      from[0] = Long.MIN_VALUE;
    }
    steps = new Steps(from, offsets);
    return true;
  }

  /** Returns the steps, to be read by {@link #read}: their number, then two words for each. */
  long[] write() {
    Steps known = steps;
    long[] words = new long[1 + 2 * known.from.length];
    words[0] = known.from.length;
    for (int i = 0; i < known.from.length; i++) {
      words[1 + 2 * i] = known.from[i];
      words[2 + 2 * i] = known.offsets[i];
    }
    return words;
  }

  /**
   * Returns a calendar that continues another one.
   *
   * @param words what {@link #write} returned, without their number
   * @throws IllegalArgumentException if they make no sense
   */
  static Calendar read(long[] words) {
    Calendar calendar = new Calendar();
    calendar.steps = new Steps(new long[] {Long.MIN_VALUE}, new long[] {words[1]});
    boolean right = words[0] == Long.MIN_VALUE;
    for (int i = 2; i < words.length; i += 2) {
      right &= calendar.step(words[i], words[i + 1]);
    }
    if (!right) {
      throw new IllegalArgumentException("calendar: steps back");
    }
    return calendar;
  }
}
