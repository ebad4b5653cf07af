package dev.weir.internal;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * A histogram whose bounds are powers of two. Adding allocates nothing and waits for no other
 * thread. Safe for use by many threads.
 */
public final class Histogram {
  private final int firstBit;
  private final LongAdder[] counts;
  private final LongAdder sum = new LongAdder();

  private Histogram(int firstBit, int lastBit) {
    this.firstBit = firstBit;
    counts = new LongAdder[lastBit - firstBit + 2];
    Arrays.setAll(counts, i -> new LongAdder());
  }

  /** Returns an empty histogram of times of requests in nanoseconds, from 256 ns to about 1 s. */
  public static Histogram ofRequests() {
    return new Histogram(8, 30);
  }

  /** Returns an empty histogram of times of work in nanoseconds, from 4 us to 69 s. */
  public static Histogram ofWork() {
    return new Histogram(12, 36);
  }

  /** Returns an empty histogram of numbers from 1 to 4,096. */
  public static Histogram ofNumbers() {
    return new Histogram(0, 12);
  }

  /**
   * Adds a value.
   *
   * @param value below 0 counts as 0
   */
  public void add(long value) {
    add(value, 1);
  }

  /**
   * Adds a value several times.
   *
   * @param value below 0 counts as 0
   * @param times at least 0
   */
  public void add(long value, int times) {
    long positive = Math.max(0, value);
    int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, positive - 1));
    counts[Math.max(0, Math.min(counts.length - 1, bits - firstBit))].add(times);
    sum.add(positive * times);
  }

  /** Returns the bounds, ascending. */
  public List<Long> bounds() {
    return IntStream.range(0, counts.length - 1).mapToObj(i -> 1L << (firstBit + i)).toList();
  }

  /**
   * Returns how many values are at most the bound of the same index and more than the one before;
   * one element more than the bounds, for those beyond.
   */
  public List<Long> counts() {
    return Arrays.stream(counts).map(LongAdder::sum).toList();
  }

  /** Returns the sum of all values. */
  public long sum() {
    return sum.sum();
  }
}
