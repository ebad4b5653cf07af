package dev.weir;

/** Two counters and a weight: hits in this window, plus the covered share of the previous one's. */
final class SlidingCounter extends Meter {
  /*
   * How is SlidingCounter designed, and why? Time is cut into windows aligned to multiples of W.
   * With p hits in the previous window, c in this one, and x of this one elapsed, the estimate is
   *
   *     c + ceil(p * (W - x) / W)
   *
   * and permits fit if the estimate and they are together at most the limit. It assumes that the
   * previous window's hits came evenly. If they all came in its last instant, a window (t - W, t]
   * holds them and c as well: p + limit - ceil(p * (W - x) / W) = limit + floor(p * x / W), which
   * stays below twice the limit because x < W.
   *
   * The estimate never grows while nobody asks, also not across an edge (at x = W it is c, and so it
   * is a moment later as the next window's p), so the wait for permits is found by solving for x.
   */
  private static final int CLOCK = 0;
  private static final int LAST = 1;
  private static final int PREVIOUS = 2;
  private static final int CURRENT = 3;

  /** Forced counts stop here: far beyond any limit, and within what products allow. */
  private static final long MOST = 1L << 40;

  private final long window;

  SlidingCounter(long windowNanos) {
    this.window = windowNanos;
  }

  @Override
  long[] fresh() {
    return new long[] {LONG_AGO, LONG_AGO, 0, 0};
  }

  @Override
  long effectiveNanos(long[] state, long now) {
    return Math.max(now, state[CLOCK]);
  }

  private long current(long[] state, long index) {
    return index == Math.floorDiv(state[LAST], window) ? state[CURRENT] : 0;
  }

  private long previous(long[] state, long index) {
    long last = Math.floorDiv(state[LAST], window);
    return index == last ? state[PREVIOUS] : index == last + 1 ? state[CURRENT] : 0;
  }

  @Override
  long fitNanos(long[] state, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long at = Math.max(now, state[LAST]);
    long index = Math.floorDiv(at, window);
    long current = current(state, index);
    long room = limit - permits - current;
    if (room >= 0) {
      long covered = covered(room, previous(state, index));
      return Math.max(at, (index + 1) * window - covered) - now;
    }
    long covered = covered(limit - permits, current);
    return (index + 2) * window - covered - now;
  }

  /**
   * Returns the most of the previous window that may be covered so that its share is in the room.
   */
  private long covered(long room, long previous) {
    return previous <= room ? window : MulDiv.floor(room, window, previous);
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
    long stamp = Math.max(at, state[LAST]);
    long index = Math.floorDiv(stamp, window);
    long previous = previous(state, index);
    long current = current(state, index);
    state[PREVIOUS] = previous;
    state[CURRENT] = Math.min(MOST, current + permits);
    state[LAST] = stamp;
    return state;
  }

  @Override
  long refund(long[] state, long now, long permits, long at, long resetNanos, Policy policy) {
    long age = Math.floorDiv(state[LAST], window) - Math.floorDiv(at, window);
    int counter = age == 0 ? CURRENT : age == 1 ? PREVIOUS : -1;
    if (counter < 0 || Math.floorDiv(now, window) - Math.floorDiv(at, window) > 1) {
      return 0;
    }
    long given = Math.min(permits, state[counter]);
    state[counter] -= given;
    return given;
  }

  @Override
  long remaining(long[] state, long now, Policy policy) {
    if (state[LAST] > now) {
      return 0;
    }
    long index = Math.floorDiv(now, window);
    long weighted = MulDiv.ceil(previous(state, index), (index + 1) * window - now, window);
    return Math.max(0, policy.quota().permits() - current(state, index) - weighted);
  }

  @Override
  long restedAtNanos(long[] state) {
    long index = Math.floorDiv(state[LAST], window);
    return (index + (state[CURRENT] > 0 ? 2 : 1)) * window;
  }

  @Override
  void outline(long[] state, long now, Policy policy, Sink sink) {
    long index = Math.floorDiv(state[LAST], window);
    if (state[PREVIOUS] > 0) {
      sink.charged(index * window - 1, state[PREVIOUS]);
    }
    if (state[CURRENT] > 0) {
      sink.charged(state[LAST], state[CURRENT]);
    }
  }
}
