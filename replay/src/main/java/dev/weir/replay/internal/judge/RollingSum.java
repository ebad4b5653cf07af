package dev.weir.replay.internal.judge;

import java.util.Arrays;

/**
 * The sum of permits in {@code (now - window, now]}, with one entry for each instant. Time never
 * goes back.
 *
 * <p>It is exact up to {@value #EXACT_ENTRIES} instants in a window. Beyond, the instants within
 * one 4096th of the window count from the latest of them: the sum is then too high by at most the
 * permits in that time.
 */
public final class RollingSum {
  public static final int EXACT_ENTRIES = 4096;

  private final long windowNanos;
  private final long granuleNanos;

  /** The times as a ring; its length is a power of two. */
  private long[] times = new long[1];

  private long[] permits = new long[1];
  private int first;
  private int size;
  private long sum;

  public RollingSum(long windowNanos) {
    this.windowNanos = windowNanos;
    this.granuleNanos = Math.max(1, windowNanos / EXACT_ENTRIES);
  }

  /** Returns the sum, without permits that have left the window. */
  public long at(long nowNanos) {
    while (size > 0 && times[first] <= nowNanos - windowNanos) {
      sum -= permits[first];
      first = (first + 1) & (times.length - 1);
      size--;
    }
    return sum;
  }

  /** Returns the sum as of the last call of another method. */
  public long sum() {
    return sum;
  }

  /**
   * Adds permits.
   *
   * @return the number of entries by which the memory has grown
   */
  public int add(long nowNanos, long count) {
    at(nowNanos);
    sum += count;
    int last = (first + size - 1) & (times.length - 1);
    if (size > 0 && (times[last] == nowNanos || joins(times[last], nowNanos))) {
      times[last] = nowNanos;
      permits[last] += count;
      return 0;
    }
    int grown = 0;
    if (size == times.length) {
      grown = times.length;
      grow();
    }
    int next = (first + size++) & (times.length - 1);
    times[next] = nowNanos;
    permits[next] = count;
    return grown;
  }

  private boolean joins(long last, long now) {
    return size >= EXACT_ENTRIES
        && Math.floorDiv(last, granuleNanos) == Math.floorDiv(now, granuleNanos);
  }

  private void grow() {
    int length = times.length;
    long[] grownTimes = Arrays.copyOfRange(times, first, first + 2 * length);
    long[] grownPermits = Arrays.copyOfRange(permits, first, first + 2 * length);
    System.arraycopy(times, 0, grownTimes, length - first, first);
    System.arraycopy(permits, 0, grownPermits, length - first, first);
    times = grownTimes;
    permits = grownPermits;
    first = 0;
  }

  /** Returns the number of entries that the memory has room for. */
  public int entries() {
    return times.length;
  }
}
