package dev.weir.cli;

/** A request is due as soon as somebody can send one: the load is what the server can bear. */
final class ClosedSchedule extends Schedule {
  ClosedSchedule(long warmupNanos, long durationNanos) {
    super(warmupNanos, durationNanos);
  }

  @Override
  long claim(long nowNanos) {
    Span span = span();
    return nowNanos >= span.startNanos() && nowNanos < span.endNanos() ? nowNanos : NONE;
  }

  @Override
  long unclaimed() {
    return 0;
  }
}
