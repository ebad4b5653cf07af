package dev.weir;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * A span of time in which some keys are admitted nothing, since their window would end too early:
 * see {@link SlotImage}. Immutable.
 *
 * @param first the first fingerprint of these keys, as an unsigned number
 * @param last the last one
 * @param fromNanos the first instant at which nothing is admitted
 * @param untilNanos the first one after the pause
 */
record Pause(long first, long last, long fromNanos, long untilNanos) {
  /** The number of windows ahead that may begin late. */
  private static final int MOST_AHEAD = 6;

  /**
   * Returns the same pause on another scale: the calendar's instead of the clock's, or the reverse.
   */
  Pause by(LongUnaryOperator other) {
    return new Pause(first, last, other.applyAsLong(fromNanos), other.applyAsLong(untilNanos));
  }

  boolean isFor(long fingerprint) {
    return Long.compareUnsigned(first, fingerprint) <= 0
        && Long.compareUnsigned(fingerprint, last) <= 0;
  }

  /** Returns how long permits wait that without pauses would fit after {@code waitNanos}. */
  static long waitNanos(List<Pause> pauses, long fingerprint, long nowNanos, long waitNanos) {
    if (pauses.isEmpty() || waitNanos == Decision.NEVER) {
      return waitNanos;
    }
    long at = nowNanos + waitNanos;
    for (Pause each : pauses) { // In the order in which they begin.
      if (each.fromNanos <= at && at < each.untilNanos && each.isFor(fingerprint)) {
        at = each.untilNanos;
      }
    }
    return at - nowNanos;
  }

  /**
   * Returns the pauses that keys have by another clock.
   *
   * <p>Permits that wait are spent at the end of a pause, whichever window they count in. If that
   * is after the end of this window, the next but one begins late as well.
   *
   * @param before those of the same keys by the clock that showed {@code thenNanos}
   * @param windowNanos the length of the windows, which begin at its multiples by either clock
   */
  static List<Pause> moved(
      List<Pause> before, long first, long last, long windowNanos, long thenNanos, long nowNanos) {
    long delta = nowNanos - thenNanos;
    long edgeThen = thenNanos - Math.floorMod(thenNanos, windowNanos) + windowNanos;
    long edge = nowNanos - Math.floorMod(nowNanos, windowNanos) + windowNanos;
    long[] until = new long[MOST_AHEAD + 2];
    Arrays.fill(until, Meter.LONG_AGO);
    until[0] = edgeThen + delta; // The instant at which the next window would have begun.
    List<Pause> moved = new ArrayList<>();
    for (Pause each : before) {
      long late = each.untilNanos + delta;
      if (each.fromNanos <= thenNanos) {
        moved.add(new Pause(first, last, nowNanos, late));
        until[1] = late > edge ? Math.max(until[1], late + windowNanos) : until[1];
      } else {
        int ahead = (int) Math.min(MOST_AHEAD, (each.fromNanos - edgeThen) / windowNanos);
        until[ahead] = Math.max(until[ahead], late);
      }
    }
    for (int ahead = 0; ahead < MOST_AHEAD; ahead++) {
      long from = edge + ahead * windowNanos;
      if (until[ahead] > from + windowNanos) {
        until[ahead + 2] = Math.max(until[ahead + 2], until[ahead] + windowNanos);
      }
      moved.add(new Pause(first, last, from, until[ahead]));
    }
    moved.removeIf(each -> each.untilNanos <= each.fromNanos);
    return moved;
  }
}
