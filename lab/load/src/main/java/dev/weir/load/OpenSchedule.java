package dev.weir.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * A schedule in which requests are due at fixed times, whether or not earlier ones are answered.
 *
 * <p>No request object waits: the number of waiting requests is the difference between the due and
 * the claimed ones. A claim returns the time at which the request was due, and latency counts from
 * there. So a stalled server is charged for every request that could not be sent because of it.
 */
final class OpenSchedule extends Schedule {
  /** The time after the end in which the last requests may still be claimed: threads wake late. */
  static final long GRACE_NANOS = 10_000_000L;

  private static final long SECOND_NANOS = 1_000_000_000L;

  private final long perSecond;

  /** The index of the first request of the measured time. */
  private final long firstMeasured;

  private final AtomicLong claimed = new AtomicLong();
  private final AtomicLong noticed = new AtomicLong();

  OpenSchedule(long perSecond, long warmupNanos, long durationNanos) {
    super(warmupNanos, durationNanos);
    this.perSecond = perSecond;
    this.firstMeasured = dueBefore(perSecond, warmupNanos);
  }

  @Override
  long claim(long nowNanos) {
    Span span = span();
    if (nowNanos < span.startNanos() || nowNanos - GRACE_NANOS >= span.endNanos()) {
      return NONE;
    }
    while (true) {
      long last = claimed.get();
      long next = next(last, nowNanos, span);
      long due = span.startNanos() + sinceStart(perSecond, next);
      if (due > nowNanos || due >= span.endNanos()) {
        return NONE;
      }
      if (claimed.compareAndSet(last, next + 1)) {
        return due;
      }
    }
  }

  /** Returns the time at which the next unclaimed request is due; it may be after the end. */
  long nextNanos(long nowNanos) {
    Span span = span();
    return span.startNanos() + sinceStart(perSecond, next(claimed.get(), nowNanos, span));
  }

  /**
   * Returns the next index to claim. Requests that still wait when the warm-up ends are dropped:
   * they would add to the measured latency.
   */
  private long next(long last, long nowNanos, Span span) {
    return nowNanos >= span.measuredNanos() ? Math.max(last, firstMeasured) : last;
  }

  @Override
  void reportLate(long nowNanos, LongConsumer late) {
    Span span = span();
    long passed = Math.min(nowNanos, span.endNanos() - 1) - span.startNanos();
    if (passed < 0) {
      return;
    }
    long last = noticed.get();
    long next = dueBefore(perSecond, passed + 1);
    if (next > last && noticed.compareAndSet(last, next)) {
      for (long i = Math.max(last, firstMeasured); i < next; i++) {
        late.accept(nowNanos - span.startNanos() - sinceStart(perSecond, i));
      }
    }
  }

  @Override
  long unclaimed() {
    Span span = span();
    long due = dueBefore(perSecond, Math.max(0, span.endNanos() - span.startNanos()));
    return Math.max(0, due - Math.max(firstMeasured, claimed.get()));
  }

  private static long sinceStart(long perSecond, long index) {
    return index / perSecond * SECOND_NANOS + index % perSecond * SECOND_NANOS / perSecond;
  }

  /**
   * Returns the number of requests that are due before a time since the start, which is the index
   * of the first request that is due later.
   */
  private static long dueBefore(long perSecond, long nanos) {
    long index = nanos / SECOND_NANOS * perSecond + nanos % SECOND_NANOS * perSecond / SECOND_NANOS;
    while (sinceStart(perSecond, index) < nanos) {
      index++;
    }
    return index;
  }
}
