package dev.weir.cluster.internal.operating;

import dev.weir.cluster.ClusterMetrics.Counts;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * A histogram whose bounds are powers of two. Adding allocates nothing and waits for no other
 * thread. Safe for use by many threads.
 */
final class Histogram {
  private final int firstBit;
  private final List<Long> bounds;
  private final LongAdder[] counts;
  private final LongAdder sum = new LongAdder();

  private Histogram(int firstBit, int lastBit) {
    this.firstBit = firstBit;
    bounds = IntStream.rangeClosed(firstBit, lastBit).mapToObj(bit -> 1L << bit).toList();
    counts = new LongAdder[bounds.size() + 1];
    Arrays.setAll(counts, i -> new LongAdder());
  }

  /** Returns an empty histogram of times in nanoseconds, from 4 us to 69 s. */
  static Histogram ofTimes() {
    return new Histogram(12, 36);
  }

  /** Returns an empty histogram of numbers from 1 to 4,096. */
  static Histogram ofNumbers() {
    return new Histogram(0, 12);
  }

  /**
   * Adds a value.
   *
   * @param value below 0 counts as 0
   */
  void add(long value) {
    long positive = Math.max(0, value);
    int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, positive - 1));
    counts[Math.max(0, Math.min(bounds.size(), bits - firstBit))].increment();
    sum.add(positive);
  }

  Counts counts() {
    return new Counts(bounds, Arrays.stream(counts).map(LongAdder::sum).toList(), sum.sum());
  }
}
