package dev.weir.replay.internal.judge;

import java.util.Arrays;

/**
 * The waiting times of requests, as a histogram: memory is bounded, and a median is at most a 64th
 * too long.
 */
public final class WaitTimes {
  /**
   * The number of leading bits that are distinguished: longer times with the same first bits are
   * counted together.
   */
  private static final int BITS = 6;

  private static final int EACH = 1 << BITS;

  private long[] counts = {};
  private long count;
  private long longestNanos;

  public void add(long nanos) {
    int place = place(nanos);
    if (place >= counts.length) {
      counts = Arrays.copyOf(counts, place + EACH);
    }
    counts[place]++;
    count++;
    longestNanos = Math.max(longestNanos, nanos);
  }

  private static int place(long nanos) {
    int shift = Math.max(0, Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos | 1) - BITS);
    return shift * EACH + (int) (nanos >>> shift);
  }

  /** Returns the longest time that is counted at a place. */
  private static long most(int place) {
    int shift = Math.max(0, place / EACH - 1);
    return ((place - (long) shift * EACH + 1) << shift) - 1;
  }

  public long count() {
    return count;
  }

  /**
   * Returns the time that so many in a hundred of them do not exceed, rounded up; 0 if there are
   * none.
   *
   * @param percent 1 to 100
   */
  public long atMostNanos(int percent) {
    long before = 0;
    for (int place = 0; place < counts.length; place++) {
      before += counts[place];
      if (100 * before >= percent * count && count > 0) {
        return Math.min(most(place), longestNanos);
      }
    }
    return 0;
  }

  public long longestNanos() {
    return longestNanos;
  }
}
