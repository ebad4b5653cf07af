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
   * The estimate never grows while nothing is charged, also not across an edge (at x = W it is c, and so it
   * is a moment later as the next window's p), so the wait for permits is found by solving for x.
   */
  /** The stamp: says which window CURRENT counts. */
  private static final int LAST = 0;

  /** The previous window's hits in the high half, this one's in the low half. */
  private static final int HITS = 1;

  /** The most hits that are counted: no limit is higher. */
  private static final long MOST = Quota.MAX_PERMITS;

  private final long window;

  SlidingCounter(long windowNanos) {
    this.window = windowNanos;
  }

  @Override
  int words() {
    return 2;
  }

  @Override
  long[] fresh() {
    return new long[] {stamp(LONG_AGO, false), 0};
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effective(s[i + LAST], now);
  }

  private long lastIndex(long[] s, int i) {
    return Math.floorDiv(instant(s[i + LAST]), window);
  }

  private static long current(long hits) {
    return hits & MOST;
  }

  private static long previous(long hits) {
    return hits >>> 32;
  }

  /** Returns the hits as they read in a window not before the latest: later ones move on. */
  private long hits(long[] s, int i, long index) {
    long later = index - lastIndex(s, i);
    return later == 0 ? s[i + HITS] : later == 1 ? s[i + HITS] << 32 : 0;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long at = Math.max(now, instant(s[i + LAST]));
    long index = Math.floorDiv(at, window);
    long hits = hits(s, i, index);
    long room = limit - permits - current(hits);
    if (room >= 0) {
      long covered = covered(room, previous(hits));
      return Math.max(at, (index + 1) * window - covered) - now;
    }
    long covered = covered(limit - permits, current(hits));
    return (index + 2) * window - covered - now;
  }

  /**
   * Returns the most of the previous window that may be covered so that its share is in the room.
   */
  private long covered(long room, long previous) {
    return previous <= room ? window : MulDiv.floor(room, window, previous);
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    return count(s, i, now, now + wait, permits);
  }

  @Override
  long[] record(
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
    long last = s[i + LAST];
    long stamp = at >= instant(last) ? stamp(at, at > now) : last;
    long hits = hits(s, i, Math.floorDiv(instant(stamp), window));
    s[i + HITS] = (hits & ~MOST) | Math.min(MOST, current(hits) + permits);
    s[i + LAST] = stamp;
    return s;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long index = Math.floorDiv(at, window);
    long age = lastIndex(s, i) - index;
    if (age < 0 || age > 1 || Math.floorDiv(now, window) - index > 1) {
      return 0;
    }
    long hits = s[i + HITS];
    return Math.min(permits, age == 0 ? current(hits) : previous(hits));
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    boolean current = lastIndex(s, i) == Math.floorDiv(at, window);
    s[i + HITS] -= current ? permits : permits << 32;
    return s;
  }

  @Override
  long remaining(long[] s, int i, long now, Policy policy) {
    if (instant(s[i + LAST]) > now) {
      return 0;
    }
    long index = Math.floorDiv(now, window);
    long hits = hits(s, i, index);
    long weighted = MulDiv.ceil(previous(hits), (index + 1) * window - now, window);
    return Math.max(0, policy.quota().permits() - current(hits) - weighted);
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return (lastIndex(s, i) + (current(s[i + HITS]) > 0 ? 2 : 1)) * window;
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long from = Math.floorDiv(known, window);
    long ahead = lastIndex(s, i) - from;
    long hits = ahead > 0 ? s[i + HITS] : hits(s, i, from);
    if (Math.floorMod(now, window) > Math.floorMod(known, window)) {
      // The previous window's hits weigh less at that point of a window than they do now.
      long left = ahead > 0 ? window : window - Math.floorMod(known, window);
      hits = Math.min(MOST, current(hits) + MulDiv.ceil(previous(hits), left, window));
    }
    long start = (Math.floorDiv(now, window) + Math.max(0, ahead)) * window;
    long last = instant(s[i + LAST]) + now - known;
    boolean reserved = ahead > 0 && reserved(s[i + LAST]);
    s[i + HITS] = hits;
    s[i + LAST] = stamp(Math.max(start, Math.min(last, start + window - 1)), reserved);
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    long hits = s[i + HITS];
    if (previous(hits) > 0) {
      sink.charged(lastIndex(s, i) * window - 1, previous(hits));
    }
    if (current(hits) > 0) {
      sink.charged(instant(s[i + LAST]), current(hits));
    }
  }
}
