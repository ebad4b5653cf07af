package dev.weir.load;

import java.util.function.LongConsumer;

/**
 * The schedule of requests: the times at which they are due. It begins once, has an unmeasured
 * warm-up and a measured time, and may be stopped early. Safe for use by many threads.
 */
abstract sealed class Schedule permits OpenSchedule, ClosedSchedule {
  /** The result of a claim when no request is due. */
  static final long NONE = Long.MIN_VALUE;

  private final long warmupNanos;
  private final long durationNanos;
  private volatile Span span = new Span(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  /** The times at which requests begin, the measured time begins, and it ends. */
  record Span(long startNanos, long measuredNanos, long endNanos) {}

  Schedule(long warmupNanos, long durationNanos) {
    this.warmupNanos = warmupNanos;
    this.durationNanos = durationNanos;
  }

  /** Begins the schedule: no request is due before. */
  final void begin(long nowNanos) {
    long measured = nowNanos + warmupNanos;
    span = new Span(nowNanos, measured, measured + durationNanos);
  }

  /** Ends the schedule: no request is due any more. */
  final void end(long nowNanos) {
    Span current = span;
    span =
        new Span(
            current.startNanos(),
            current.measuredNanos(),
            Math.min(current.endNanos(), Math.max(nowNanos, current.startNanos())));
  }

  final Span span() {
    return span;
  }

  /** Returns whether a request that was due at that time is measured. */
  final boolean measured(long dueNanos) {
    return dueNanos >= span.measuredNanos();
  }

  /**
   * Claims the next request that is due; returns the time at which it was due, or {@link #NONE}.
   */
  abstract long claim(long nowNanos);

  /**
   * Reports the lateness of each measured request that has become due since the last call, in
   * nanoseconds.
   */
  abstract void reportLate(long nowNanos, LongConsumer late);

  /**
   * Returns the number of requests of the measured time that were due before its end and never
   * claimed.
   */
  abstract long unclaimed();
}
