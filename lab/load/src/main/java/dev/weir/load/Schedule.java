package dev.weir.load;

import java.util.function.LongConsumer;

/**
 * When requests are due. It begins once, has an unmeasured warm-up and a measured time, and may be
 * stopped early. Safe for use by many threads.
 */
abstract sealed class Schedule permits OpenSchedule, ClosedSchedule {
  /** Nothing is due. */
  static final long NONE = Long.MIN_VALUE;

  private final long warmupNanos;
  private final long durationNanos;
  private volatile Span span = new Span(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  /** When requests begin, when the measured time begins, and when it ends. */
  record Span(long startNanos, long measuredNanos, long endNanos) {}

  Schedule(long warmupNanos, long durationNanos) {
    this.warmupNanos = warmupNanos;
    this.durationNanos = durationNanos;
  }

  /** Nothing is due before this is called. */
  final void begin(long nowNanos) {
    long measured = nowNanos + warmupNanos;
    span = new Span(nowNanos, measured, measured + durationNanos);
  }

  /** Nothing is due from now on. */
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

  /** Takes the next request that is due; returns when it was due, or {@link #NONE}. */
  abstract long claim(long nowNanos);

  /**
   * Reports how late it is for each measured request that has become due since the last call, in
   * nanoseconds.
   */
  abstract void notice(long nowNanos, LongConsumer late);

  /** Returns how many requests of the measured time were due before its end and never claimed. */
  abstract long unclaimed();
}
