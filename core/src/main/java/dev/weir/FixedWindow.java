package dev.weir;

/**
 * An algorithm with one counter for each window; windows begin at multiples of their length on the
 * calendar.
 */
final class FixedWindow extends Meter {
  /** The stamp, which also gives the window that is counted. */
  private static final int LAST = 0;

  private static final int COUNT = 1;

  /** The most that is counted in a window, far above any limit. */
  private static final long MOST_COUNT = 1L << 62;

  private final long window;
  private final Calendar calendar;

  FixedWindow(long windowNanos, Calendar calendar) {
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

  /** Returns the start of the window that is counted; all starts are instants of the calendar. */
  private long start(long[] s, int i) {
    return startAt(instant(s[i + LAST]));
  }

  /** Returns the start of the window that contains an instant. */
  private long startAt(long at) {
    return startOf(calendar.of(at));
  }

  private long startOf(long calendarNanos) {
    return Math.floorDiv(calendarNanos, window) * window;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long counted = start(s, i);
    long start = Math.max(startAt(now), counted);
    boolean fits = start > counted || s[i + COUNT] <= limit - permits;
    return Math.max(0, calendar.first(fits ? start : start + window) - now);
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
    if (startAt(at) > start(s, i)) {
      s[i + COUNT] = 0;
    }
    s[i + COUNT] = Math.min(MOST_COUNT, s[i + COUNT] + permits);
    if (at >= instant(s[i + LAST])) {
      s[i + LAST] = stamp(at, at > now);
    }
    return s;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long start = start(s, i);
    boolean counts = startAt(at) == start && start > calendar.of(now) - window;
    return counts ? Math.min(permits, s[i + COUNT]) : 0;
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    s[i + COUNT] -= permits;
    return s;
  }

  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    return s[i + COUNT] > 0 ? instant(s[i + LAST]) : LONG_AGO;
  }

  @Override
  long balance(long[] s, int i, long now, Policy policy) {
    long limit = policy.quota().permits();
    long counted = start(s, i);
    long start = startAt(now);
    if (start > counted) {
      return limit;
    }
    return start < counted ? 0 : limit - s[i + COUNT];
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return calendar.first(start(s, i) + window);
  }

  @Override
  void lift(long[] s, int i) {
    s[i + LAST] = stamp(calendar.of(instant(s[i + LAST])), reserved(s[i + LAST]));
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long was = instant(s[i + LAST]);
    long shown = calendar.of(now);
    long ahead = (startOf(was) - startOf(known)) / window;
    if (ahead < 0) {
      s[i + LAST] = stamp(LONG_AGO, false);
      s[i + COUNT] = 0;
      return;
    }
    long start = startOf(shown) + ahead * window;
    long moved = was + shown - known;
    if (reserved(s[i + LAST]) && moved >= start + window) {
      start = startOf(moved); // Requests wait until then, and not by this calendar.
    }
    long at = Math.max(start, Math.min(moved, start + window - 1));
    s[i + LAST] = stamp(calendar.first(at), reserved(s[i + LAST]));
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    if (s[i + COUNT] > 0 && now < resetAtNanos(s, i)) {
      sink.charged(instant(s[i + LAST]), s[i + COUNT]);
    }
  }
}
