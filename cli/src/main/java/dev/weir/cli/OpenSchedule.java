package dev.weir.cli;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests are due at fixed times, whatever becomes of those before them.
 *
 * <p>No request is held anywhere: what waits is the difference between how many are due and how
 * many were claimed. A claim gives the time at which the request was due, and latency counts from
 * there; so a server that stalls is charged for every request that it kept from being sent.
 */
final class OpenSchedule extends Schedule {
  private static final long SECOND_NANOS = 1_000_000_000L;

  private final long perSecond;
  private final AtomicLong claimed = new AtomicLong();

  OpenSchedule(long perSecond, long warmupNanos, long durationNanos) {
    super(warmupNanos, durationNanos);
    this.perSecond = perSecond;
  }

  @Override
  long claim(long nowNanos) {
    Span span = span();
    long beforeNanos = Math.min(nowNanos, span.endNanos() - 1);
    while (true) {
      long next = claimed.get();
      if (span.startNanos() == Long.MAX_VALUE || dueNanos(span, next) > beforeNanos) {
        return NONE;
      }
      if (claimed.compareAndSet(next, next + 1)) {
        return dueNanos(span, next);
      }
    }
  }

  /** Returns when the next unclaimed request is due; it may be after the end. */
  long nextNanos() {
    Span span = span();
    return span.startNanos() == Long.MAX_VALUE ? Long.MAX_VALUE : dueNanos(span, claimed.get());
  }

  @Override
  long unclaimed() {
    Span span = span();
    long first = dueBefore(span, span.measuredNanos());
    return Math.max(0, dueBefore(span, span.endNanos()) - Math.max(first, claimed.get()));
  }

  private long dueNanos(Span span, long index) {
    return span.startNanos()
        + index / perSecond * SECOND_NANOS
        + index % perSecond * SECOND_NANOS / perSecond;
  }

  /** Returns how many requests are due before a time: the least index that is not. */
  private long dueBefore(Span span, long nanos) {
    long since = nanos - span.startNanos();
    if (since <= 0) {
      return 0;
    }
    long index = since / SECOND_NANOS * perSecond + since % SECOND_NANOS * perSecond / SECOND_NANOS;
    while (dueNanos(span, index) < nanos) {
      index++;
    }
    return index;
  }
}
