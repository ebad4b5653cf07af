package dev.weir.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** The longest time without an admission. Safe for use by many threads. */
final class AdmissionGap {
  /** Admissions so soon after another are ignored, so that threads seldom write here. */
  static final long LEAST_NANOS = 10_000;

  private final AtomicLong last = new AtomicLong();
  private final LongAccumulator longest = new LongAccumulator(Math::max, 0);

  /** Counts from this time on. */
  void begin(long nowNanos) {
    last.set(nowNanos);
  }

  void admitted(long nowNanos) {
    if (nowNanos - last.get() >= LEAST_NANOS) {
      longest.accumulate(nowNanos - last.getAndAccumulate(nowNanos, Math::max));
    }
  }

  /** Returns the longest time so far; {@code nowNanos} ends it as an admission does. */
  long longestNanos(long nowNanos) {
    return Math.max(longest.get(), nowNanos - last.get());
  }
}
