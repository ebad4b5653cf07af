package dev.weir;

/** One counter a window, aligned to multiples of the window or to the first request. */
final class FixedWindow extends Meter {
  private static final int CLOCK = 0;
  private static final int START = 1;
  private static final int COUNT = 2;
  private static final int LAST = 3;

  private final long window;
  private final boolean firstRequest;

  FixedWindow(long windowNanos, boolean alignedToFirstRequest) {
    this.window = windowNanos;
    this.firstRequest = alignedToFirstRequest;
  }

  @Override
  long[] fresh() {
    return new long[] {LONG_AGO, LONG_AGO, 0, LONG_AGO};
  }

  /** Returns the start of the window that {@code at} falls into. */
  private long start(long[] state, long at) {
    if (!firstRequest) {
      return Math.floorDiv(at, window) * window;
    }
    return holds(state, at) ? state[START] : at;
  }

  /** Returns whether the window that is counted holds the instant. */
  private boolean holds(long[] state, long at) {
    return at >= state[START] && state[START] > at - window;
  }

  @Override
  long fitNanos(long[] state, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long start = Math.max(start(state, now), state[START]);
    boolean fits = start > state[START] || state[COUNT] <= limit - permits;
    return Math.max(0, (fits ? start : start + window) - now);
  }

  @Override
  long effectiveNanos(long[] state, long now) {
    return Math.max(now, state[CLOCK]);
  }

  @Override
  long[] charge(long[] state, long now, long wait, long permits, Policy policy) {
    return count(state, now, now + wait, permits);
  }

  @Override
  long[] force(long[] state, long now, long at, long permits, Policy policy, Policy admitting) {
    return count(state, now, at, permits);
  }

  private long[] count(long[] state, long now, long at, long permits) {
    state[CLOCK] = Math.max(state[CLOCK], now);
    long start = start(state, at);
    if (start > state[START]) {
      state[START] = start;
      state[COUNT] = 0;
    }
    state[COUNT] += permits;
    state[LAST] = Math.max(state[LAST], at);
    return state;
  }

  @Override
  long refund(long[] state, long now, long permits, long at, long resetNanos, Policy policy) {
    long given = 0;
    if (holds(state, at) && state[START] > now - window) {
      given = Math.min(permits, state[COUNT]);
      state[COUNT] -= given;
    }
    return given;
  }

  @Override
  long remaining(long[] state, long now, Policy policy) {
    long limit = policy.quota().permits();
    long start = start(state, now);
    if (start > state[START]) {
      return limit;
    }
    return start < state[START] ? 0 : Math.max(0, limit - state[COUNT]);
  }

  @Override
  long restedAtNanos(long[] state) {
    return state[START] + window;
  }

  @Override
  void outline(long[] state, long now, Policy policy, Sink sink) {
    if (state[COUNT] > 0 && now < restedAtNanos(state)) {
      sink.charged(state[LAST], state[COUNT]);
    }
  }
}
