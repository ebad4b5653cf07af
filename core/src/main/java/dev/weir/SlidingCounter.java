package dev.weir;

/**
 * An algorithm with two counters and a weight: hits in this window, plus the covered share of the
 * previous one's.
 */
final class SlidingCounter extends Meter {
  /*
   * How is SlidingCounter designed, and why? Time is cut into windows aligned to multiples of W.
   * With p hits in the previous window, c in this one, and x of this one elapsed, the estimate is
   *
   *     c + ceil(p * (W - x) / W)
   *
   * and permits fit if the sum of the estimate and the permits is at most the limit. The estimate
   * assumes that the previous window's hits came evenly. If they all came in its last instant, a
   * window (t - W, t] holds them and c as well: p + limit - ceil(p * (W - x) / W) = limit + floor(p
   * * x / W), which stays below twice the limit because x < W.
   *
   * The estimate never grows while nothing is charged, even across an edge (at x = W it is c, and a
   * moment later it is c again, as the next window's p), so the wait for permits is found by
   * solving for x.
   */
  /** The stamp, which gives the window that CURRENT counts. */
  private static final int LAST = 0;

  /** The previous window's hits in the high half, this one's in the low half. */
  private static final int HITS = 1;

  /** The most hits that are counted: no limit is higher. */
  private static final long MOST = Quota.MAX_PERMITS;

  private final long window;
  private final Calendar calendar;

  SlidingCounter(long windowNanos, Calendar calendar) {
    this.window = windowNanos;
    this.calendar = calendar;
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
    return index(instant(s[i + LAST]));
  }

  /** Returns the number of the window that contains an instant, by the calendar. */
  private long index(long at) {
    return Math.floorDiv(calendar.of(at), window);
  }

  private static long current(long hits) {
    return hits & MOST;
  }

  private static long previous(long hits) {
    return hits >>> 32;
  }

  /**
   * Returns the hits as they read in a window that is not before the latest: in a later window, the
   * current hits have become the previous ones.
   */
  private long hits(long[] s, int i, long index) {
    long later = index - lastIndex(s, i);
    return later == 0 ? s[i + HITS] : later == 1 ? s[i + HITS] << 32 : 0;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long at = Math.max(now, instant(s[i + LAST]));
    long index = index(at);
    long hits = hits(s, i, index);
    long room = limit - permits - current(hits);
    if (room >= 0) {
      long covered = covered(room, previous(hits));
      return Math.max(at, calendar.first((index + 1) * window - covered)) - now;
    }
    long covered = covered(limit - permits, current(hits));
    return calendar.first((index + 2) * window - covered) - now;
  }

  /**
   * Returns the longest part of the previous window that may be covered so that its share fits the
   * room.
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
    long hits = hits(s, i, index(instant(stamp)));
    s[i + HITS] = (hits & ~MOST) | Math.min(MOST, current(hits) + permits);
    s[i + LAST] = stamp;
    return s;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long index = index(at);
    long age = lastIndex(s, i) - index;
    if (age < 0 || age > 1 || index(now) - index > 1) {
      return 0;
    }
    long hits = s[i + HITS];
    return Math.min(permits, age == 0 ? current(hits) : previous(hits));
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    boolean current = lastIndex(s, i) == index(at);
    s[i + HITS] -= current ? permits : permits << 32;
    return s;
  }

  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    long hits = s[i + HITS];
    if (current(hits) > 0) {
      return instant(s[i + LAST]);
    }
    return previous(hits) > 0 ? calendar.first(lastIndex(s, i) * window) - 1 : LONG_AGO;
  }

  @Override
  long balance(long[] s, int i, long now, Policy policy) {
    if (instant(s[i + LAST]) > now) {
      return 0;
    }
    long shown = calendar.of(now);
    long index = Math.floorDiv(shown, window);
    long hits = hits(s, i, index);
    long weighted = MulDiv.ceil(previous(hits), (index + 1) * window - shown, window);
    return policy.quota().permits() - current(hits) - weighted;
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return calendar.first((lastIndex(s, i) + (current(s[i + HITS]) > 0 ? 2 : 1)) * window);
  }

  @Override
  void lift(long[] s, int i) {
    s[i + LAST] = stamp(calendar.of(instant(s[i + LAST])), reserved(s[i + LAST]));
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long was = instant(s[i + LAST]);
    long shown = calendar.of(now);
    long same = calendar.first(was);
    if (shown == known && calendar.of(same) == was) { // Otherwise a step passed over it here.
      s[i + LAST] = stamp(same, reserved(s[i + LAST]));
      return;
    }
    long from = Math.floorDiv(known, window);
    long ahead = Math.floorDiv(was, window) - from;
    long hits = ahead >= 0 ? s[i + HITS] : ahead == -1 ? s[i + HITS] << 32 : 0;
    if (Math.floorMod(shown, window) > Math.floorMod(known, window)) {
      // The previous window's hits weigh less at that point of a window than they do now.
      long left = ahead > 0 ? window : window - Math.floorMod(known, window);
      hits = Math.min(MOST, current(hits) + MulDiv.ceil(previous(hits), left, window));
    }
    long start = (Math.floorDiv(shown, window) + Math.max(0, ahead)) * window;
    long last = was + shown - known;
    // A reservation keeps its instant, even if that is in the window after its own.
    boolean reserved = reserved(s[i + LAST]) && last > shown;
    s[i + HITS] = hits;
    s[i + LAST] = stamp(calendar.first(Math.max(start, last)), reserved);
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    long hits = s[i + HITS];
    if (previous(hits) > 0) {
      sink.charged(calendar.first(lastIndex(s, i) * window) - 1, previous(hits));
    }
    if (current(hits) > 0) {
      sink.charged(instant(s[i + LAST]), current(hits));
    }
  }
}
