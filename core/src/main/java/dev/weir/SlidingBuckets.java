package dev.weir;

/** Counts per granule in a ring, with a running total of all that the ring holds. */
final class SlidingBuckets extends Meter {
  /*
   * How is SlidingBuckets designed, and why? Time is cut into granules. At an instant t every
   * granule counts that has any instant in (t - W, t], the oldest one in full: that can only deny.
   * A granule stops counting when its last instant leaves the window, so permits come back at most
   * one granule late.
   *
   * The ring has one cell more than a window has granules, for the partly expired one. LAST is the
   * newest instant charged, its granule the head; the cells behind it are zeroed as it moves, so a decision subtracts only
   * what has expired since: one granule in the steady state, never more than the ring.
   *
   * A reservation moves LAST ahead of the clock and forgets what expires until then. That is safe
   * because nobody is admitted before LAST comes.
   */
  private static final int CLOCK = 0;
  private static final int LAST = 1;
  private static final int TOTAL = 2;
  private static final int RING = 3;

  private final long window;
  private final long granule;
  private final int cells;

  SlidingBuckets(long windowNanos, long granularityNanos) {
    this.window = windowNanos;
    this.granule = granularityNanos;
    this.cells = Math.toIntExact((windowNanos + granularityNanos - 1) / granularityNanos) + 1;
  }

  @Override
  long[] fresh() {
    long[] state = new long[RING + cells];
    state[CLOCK] = LONG_AGO;
    state[LAST] = LONG_AGO;
    return state;
  }

  @Override
  long effectiveNanos(long[] state, long now) {
    return Math.max(now, state[CLOCK]);
  }

  private int cell(long index) {
    return RING + (int) Math.floorMod(index, (long) cells);
  }

  /** Returns the oldest granule that counts at an instant. */
  private long oldest(long at) {
    return Math.floorDiv(at - window + 1, granule);
  }

  /** Returns the newest granule charged. */
  private long head(long[] state) {
    return Math.floorDiv(state[LAST], granule);
  }

  /** Returns the permits that count at an instant not before LAST. */
  private long counted(long[] state, long at) {
    long oldest = oldest(at);
    long head = head(state);
    if (oldest > head) {
      return 0;
    }
    long counted = state[TOTAL];
    for (long index = head - cells + 1; index < oldest; index++) {
      counted -= state[cell(index)];
    }
    return counted;
  }

  @Override
  long fitNanos(long[] state, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long at = Math.max(now, state[LAST]);
    long over = counted(state, at) + permits - limit;
    if (over <= 0) {
      return at - now;
    }
    long index = oldest(at);
    for (over -= state[cell(index)]; over > 0; over -= state[cell(index)]) {
      index++;
    }
    return (index + 1) * granule - 1 + window - now;
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
    long last = Math.max(at, state[LAST]);
    long head = Math.floorDiv(last, granule);
    long steps = Math.min(head - head(state), cells);
    for (long index = head - steps + 1; index <= head; index++) {
      state[TOTAL] -= state[cell(index)];
      state[cell(index)] = 0;
    }
    state[LAST] = last;
    state[cell(head)] += permits;
    state[TOTAL] += permits;
    return state;
  }

  @Override
  long refund(long[] state, long now, long permits, long at, long resetNanos, Policy policy) {
    long index = Math.floorDiv(at, granule);
    if (index < oldest(now) || index > head(state) || index <= head(state) - cells) {
      return 0;
    }
    long given = Math.min(permits, state[cell(index)]);
    state[cell(index)] -= given;
    state[TOTAL] -= given;
    return given;
  }

  @Override
  long remaining(long[] state, long now, Policy policy) {
    if (state[LAST] > now) {
      return 0;
    }
    return Math.max(0, policy.quota().permits() - counted(state, now));
  }

  @Override
  long restedAtNanos(long[] state) {
    return (head(state) + 1) * granule - 1 + window;
  }

  @Override
  void outline(long[] state, long now, Policy policy, Sink sink) {
    long head = head(state);
    for (long index = head - cells + 1; index <= head; index++) {
      long permits = state[cell(index)];
      if (permits > 0) {
        sink.charged(Math.min((index + 1) * granule - 1, state[LAST]), permits);
      }
    }
  }
}
