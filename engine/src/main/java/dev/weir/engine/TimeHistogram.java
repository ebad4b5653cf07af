package dev.weir.engine;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * A histogram of times, whose bounds are powers of two from 256 ns to about 1 s. Adding allocates
 * nothing and waits for no other thread. Safe for use by many threads.
 */
public final class TimeHistogram {
  private static final int FIRST_BIT = 8;
  private static final int BOUNDS = 23;

  private final LongAdder[] counts = new LongAdder[BOUNDS + 1];
  private final LongAdder sumNanos = new LongAdder();

  /** Creates an empty histogram. */
  public TimeHistogram() {
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  /**
   * Adds events that took the same time.
   *
   * @param nanos how long each took; below 0 counts as 0
   * @param times how many there were, at least 0
   */
  public void add(long nanos, int times) {
    long positive = Math.max(0, nanos);
    int bits = 64 - Long.numberOfLeadingZeros(Math.max(0, positive - 1));
    counts[Math.max(0, Math.min(BOUNDS, bits - FIRST_BIT))].add(times);
    sumNanos.add(positive * times);
  }

  /**
   * Returns how many events took at most the bound of the same index and more than the one before;
   * one element more than the bounds, for those beyond.
   */
  public List<Long> counts() {
    return Arrays.stream(counts).map(LongAdder::sum).toList();
  }

  /** Returns the bounds in nanoseconds, ascending. */
  public static List<Long> boundsNanos() {
    return IntStream.range(0, BOUNDS).mapToObj(i -> 1L << (FIRST_BIT + i)).toList();
  }

  /** Returns the sum of all times, in nanoseconds. */
  public long sumNanos() {
    return sumNanos.sum();
  }
}
