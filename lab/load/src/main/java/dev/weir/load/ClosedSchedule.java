package dev.weir.load;

import java.util.function.LongConsumer;

/**
 * A schedule in which a request is due as soon as a slot is free: the load is the most that the
 * server can serve.
 */
final class ClosedSchedule extends Schedule {
  ClosedSchedule(long warmupNanos, long durationNanos) {
    super(warmupNanos, durationNanos);
  }

  @Override
  long claim(long nowNanos) {
    Span span = span();
    return nowNanos >= span.startNanos() && nowNanos < span.endNanos() ? nowNanos : NONE;
  }

  /** Reports nothing: no request is due before it can be sent. */
  @Override
  void reportLate(long nowNanos, LongConsumer late) {}

  @Override
  long unclaimed() {
    return 0;
  }
}
