package dev.weir.engine;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/** A histogram of decision times, its bounds powers of two from 256 ns to about 1 s. */
final class DecisionTimes {
  private static final int FIRST_BIT = 8;
  private static final int BOUNDS = 23;

  private final LongAdder[] counts = new LongAdder[BOUNDS + 1];
  private final LongAdder sumNanos = new LongAdder();

  DecisionTimes() {
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  /** Adds decisions that took the same time. */
  void add(long nanos, int decisions) {
    long positive = Math.max(0, nanos);
    int bits = 64 - Long.numberOfLeadingZeros(Math.max(0, positive - 1));
    counts[Math.max(0, Math.min(BOUNDS, bits - FIRST_BIT))].add(decisions);
    sumNanos.add(positive * decisions);
  }

  List<Long> counts() {
    return Arrays.stream(counts).map(LongAdder::sum).toList();
  }

  static List<Long> boundsNanos() {
    return IntStream.range(0, BOUNDS).mapToObj(i -> 1L << (FIRST_BIT + i)).toList();
  }

  long sumNanos() {
    return sumNanos.sum();
  }
}
