package dev.weir;

/** One counter a window, aligned to multiples of the window or to the first request. */
final class FixedWindow extends Meter {
  /** The stamp: where windows are aligned, it also says which window is counted. */
  private static final int LAST = 0;

  private static final int COUNT = 1;

  /** The start of the window, where that is the first request's instant. */
  private static final int START = 2;

  private final long window;
  private final boolean firstRequest;

  FixedWindow(long windowNanos, boolean alignedToFirstRequest) {
    this.window = windowNanos;
    this.firstRequest = alignedToFirstRequest;
  }

  @Override
  int words() {
    return firstRequest ? 3 : 2;
  }

  @Override
  long[] fresh() {
    long last = stamp(LONG_AGO, false);
    return firstRequest ? new long[] {last, 0, LONG_AGO} : new long[] {last, 0};
  }

  /** Returns the start of the window that is counted. */
  private long start(long[] s, int i) {
    return firstRequest ? s[i + START] : aligned(instant(s[i + LAST]));
  }

  private long aligned(long at) {
    return Math.floorDiv(at, window) * window;
  }

  /** Returns the start of the window that an instant falls into. */
  private long startAt(long[] s, int i, long at) {
    return !firstRequest ? aligned(at) : holds(s, i, at) ? s[i + START] : at;
  }

  /** Returns whether the window that is counted holds the instant. */
  private boolean holds(long[] s, int i, long at) {
    long start = start(s, i);
    return at >= start && start > at - window;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long counted = start(s, i);
    long start = Math.max(startAt(s, i, now), counted);
    boolean fits = start > counted || s[i + COUNT] <= limit - permits;
    return Math.max(0, (fits ? start : start + window) - now);
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effective(s[i + LAST], now);
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    return count(s, i, now, now + wait, permits);
  }

  @Override
  long[] force(
      long[] s,
      int i,
      long now,
      long at,
      long permits,
      Policy policy,
      Policy admitting,
      boolean mayGrow) {
    return count(s, i, now, at, permits);
  }

  private long[] count(long[] s, int i, long now, long at, long permits) {
    long start = startAt(s, i, at);
    if (start > start(s, i)) {
      s[i + COUNT] = 0;
      if (firstRequest) {
        s[i + START] = start;
      }
    }
    s[i + COUNT] += permits;
    if (at >= instant(s[i + LAST])) {
      s[i + LAST] = stamp(at, at > now);
    }
    return s;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    boolean counts = holds(s, i, at) && start(s, i) > now - window;
    return counts ? Math.min(permits, s[i + COUNT]) : 0;
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    s[i + COUNT] -= permits;
    return s;
  }

  @Override
  long remaining(long[] s, int i, long now, Policy policy) {
    long limit = policy.quota().permits();
    long counted = start(s, i);
    long start = startAt(s, i, now);
    if (start > counted) {
      return limit;
    }
    return start < counted ? 0 : Math.max(0, limit - s[i + COUNT]);
  }

  @Override
  long restedAtNanos(long[] s, int i) {
    return start(s, i) + window;
  }

  @Override
  void outline(long[] s, int i, long now, Policy policy, Sink sink) {
    if (s[i + COUNT] > 0 && now < restedAtNanos(s, i)) {
      sink.charged(instant(s[i + LAST]), s[i + COUNT]);
    }
  }
}
