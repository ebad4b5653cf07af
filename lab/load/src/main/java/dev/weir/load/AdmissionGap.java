package dev.weir.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** The longest time between two admissions. Safe for use by many threads. */
final class AdmissionGap {
  /**
   * The least time between two admissions that count: sooner ones are ignored, so that threads
   * seldom write here.
   */
  static final long LEAST_NANOS = 10_000;

  private final AtomicLong last = new AtomicLong();
  private final LongAccumulator longest = new LongAccumulator(Math::max, 0);

  /** Begins the count at this time. */
  void begin(long nowNanos) {
    last.set(nowNanos);
  }

  void admitted(long nowNanos) {
    if (nowNanos - last.get() >= LEAST_NANOS) {
      longest.accumulate(nowNanos - last.getAndAccumulate(nowNanos, Math::max));
    }
  }

  /** Returns the longest time so far; {@code nowNanos} ends it in the way of an admission. */
  long longestNanos(long nowNanos) {
    return Math.max(longest.get(), nowNanos - last.get());
  }
}
