package dev.weir;

import java.util.Arrays;

/**
 * An algorithm that keeps every seat that is out: permits that count until they are given back, or
 * until they have not been renewed for the window.
 */
final class SeatMeter extends Meter {
  /*
   * How is a seat known? By the instant at which it was taken, which no other seat of its key has:
   * a key's time grows with each change. So a seat that is given back twice, or after it was lost,
   * is not found, and the seat of another is never taken for it. What a key has forgotten cannot
   * come back either, since later requests have later instants. The
   * time of a key grows by a microsecond at least: the instants of stores that processes share are
   * whole microseconds, and those decided for them in a process are marked by what is beyond.
   *
   *   s[0]  stamp of the latest change                s[1]  total << 32 | number of seats
   *   then three longs a seat: the instant at which it was taken, the instant since which it counts,
   *   permits of others << 32 | its own permits
   *
   * Seats lie in the order of the instants since which they count: a seat that is renewed moves to
   * the end. So those that are lost are the first ones.
   *
   * Where the bound on memory allows no more room, permits are added to the last seat, as those of
   * others: they are lost when it is. The seat that was to be added is not found again, so it counts
   * until then, which can only deny. A seat whose own permits are back is not found either, although
   * those of others stay.
   *
   * Permits that come back by their number alone (Store.refundNewest) are those of the seats that
   * would be lost first: which seat is meant is not known, and so the ones that stay count for at
   * least as long as the ones that are meant.
   */
  private static final int COUNTS = 1;
  private static final int FIRST = 2;

  /** The longs of a seat, and where in them its parts are. */
  private static final int SEAT = 3;

  private static final int SINCE = 1;
  private static final int PERMITS = 2;

  /** The least time by which the time of a key grows with a change. */
  private static final long STEP_NANOS = 1_000;

  private static final long LOW = 0xffff_ffffL;

  /** The most seats of a key that are kept apart. */
  private static final int MOST_SEATS = 2 * (int) Policy.MOST_SEATS;

  private final long window;
  private final int part;

  /**
   * Creates the algorithm.
   *
   * @param windowNanos the time in which a seat has to be renewed
   * @param part the part of a key's state that is read and written
   */
  SeatMeter(long windowNanos, int part) {
    this.window = windowNanos;
    this.part = part;
  }

  @Override
  int words() {
    return 0;
  }

  @Override
  long[] fresh() {
    long[] s = new long[FIRST + SEAT];
    s[0] = stamp(LONG_AGO, false);
    return s;
  }

  /** Returns the number of seats, as many as there is room for while another thread changes it. */
  private int size(long[] s, int i) {
    int most = (Lengths.of(s, i, part) - FIRST) / SEAT;
    return Math.min((int) s[i + COUNTS], most);
  }

  private static int seat(int i, int number) {
    return i + FIRST + SEAT * number;
  }

  private static void count(long[] s, int i, long byPermits, int bySeats) {
    s[i + COUNTS] += (byPermits << 32) + bySeats;
  }

  /** Returns the seat's own permits. */
  private static long own(long[] s, int seat) {
    return s[seat + PERMITS] & LOW;
  }

  /** Returns the seat's own permits and those of others. */
  private static long all(long[] s, int seat) {
    return own(s, seat) + (s[seat + PERMITS] >>> 32);
  }

  private boolean isLost(long[] s, int seat, long now) {
    return s[seat + SINCE] + window <= now;
  }

  /** Returns the number of the first seat that is not lost. */
  private int firstHeld(long[] s, int i, int size, long now) {
    int first = 0;
    while (first < size && isLost(s, seat(i, first), now)) {
      first++;
    }
    return first;
  }

  @Override
  long effectiveNanos(long[] s, int i, long nowNanos) {
    return Math.max(nowNanos, instant(s[i]) + STEP_NANOS);
  }

  private long counted(long[] s, int i, long now) {
    long counted = s[i + COUNTS] >>> 32;
    int size = size(s, i);
    int first = firstHeld(s, i, size, now);
    for (int lost = 0; lost < first; lost++) {
      counted -= all(s, seat(i, lost));
    }
    return counted;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long over = counted(s, i, now) + permits - policy.quota().permits();
    if (over <= 0) {
      return 0;
    }
    int size = size(s, i);
    long until = now;
    for (int number = firstHeld(s, i, size, now); number < size && over > 0; number++) {
      int seat = seat(i, number);
      over -= all(s, seat);
      until = s[seat + SINCE] + window;
    }
    return Math.max(1, until - now);
  }

  /** Returns that permits cannot queue: a seat that is renewed would still be there at its turn. */
  @Override
  long queueNanos(long[] s, int i, long now, long permits, Policy policy) {
    return waitNanos(s, i, now, permits, policy) == 0 ? 0 : Decision.NEVER;
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    trim(s, i, now);
    return add(s, i, now + wait, permits, mayGrow);
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
    trim(s, i, now);
    return add(s, i, at, permits, mayGrow);
  }

  /** Forgets the seats that are lost. */
  private void trim(long[] s, int i, long now) {
    int size = size(s, i);
    int lost = firstHeld(s, i, size, now);
    if (lost > 0) {
      remove(s, i, 0, lost);
    }
  }

  private void remove(long[] s, int i, int from, int seats) {
    int size = size(s, i);
    long permits = 0;
    for (int number = from; number < from + seats; number++) {
      permits += all(s, seat(i, number));
    }
    int rest = size - from - seats;
    System.arraycopy(s, seat(i, from + seats), s, seat(i, from), SEAT * rest);
    Arrays.fill(s, seat(i, size - seats), seat(i, size), 0);
    count(s, i, -permits, -seats);
  }

  private long[] add(long[] s, int i, long wanted, long permits, boolean mayGrow) {
    int size = size(s, i);
    long more = Math.min(permits, LOW - (s[i + COUNTS] >>> 32));
    long since = Math.max(wanted, size == 0 ? wanted : s[seat(i, size - 1) + SINCE]);
    boolean same = size > 0 && s[seat(i, size - 1)] == wanted; // Of the same request.
    int room = (Lengths.of(s, i, part) - FIRST) / SEAT;
    if (!same && size == room && mayGrow && size < MOST_SEATS) {
      return add(grown(s, i, size), 0, wanted, permits, false);
    }
    if (size == 0 || (!same && size < room)) {
      int seat = seat(i, size);
      s[seat] = Math.max(wanted, instant(s[i]) + STEP_NANOS);
      s[seat + SINCE] = since;
      s[seat + PERMITS] = more;
      s[i] = stamp(Math.max(since, s[seat]), false);
      count(s, i, more, 1);
    } else {
      int last = seat(i, size - 1);
      s[last + SINCE] = since;
      s[last + PERMITS] += same ? more : more << 32;
      s[i] = stamp(Math.max(since, instant(s[i])), false);
      count(s, i, more, 0);
    }
    return s;
  }

  private long[] grown(long[] s, int i, int size) {
    long[] t = new long[Slab.fitting(FIRST + SEAT * (size + 1 + size / 4))];
    System.arraycopy(s, i, t, 0, FIRST + SEAT * size);
    return t;
  }

  /**
   * Returns the number of the seat that was taken at an instant, unless it is lost or back; or -1.
   */
  private int find(long[] s, int i, long now, long at) {
    int size = size(s, i);
    for (int number = firstHeld(s, i, size, now); number < size; number++) {
      int seat = seat(i, number);
      if (s[seat] == at && own(s, seat) > 0) {
        return number;
      }
    }
    return -1;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    int found = find(s, i, now, at);
    return found < 0 ? 0 : Math.min(permits, own(s, seat(i, found)));
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    int found = find(s, i, now, at);
    if (found < 0) {
      return s;
    }
    int seat = seat(i, found);
    if (permits < all(s, seat)) {
      s[seat + PERMITS] -= permits;
      count(s, i, -permits, 0);
    } else {
      remove(s, i, found, 1);
    }
    return s;
  }

  @Override
  boolean renew(long[] s, int i, long now, long at) {
    int found = find(s, i, now, at);
    if (found < 0) {
      return false;
    }
    int seat = seat(i, found);
    long permits = s[seat + PERMITS];
    int last = seat(i, size(s, i) - 1);
    System.arraycopy(s, seat + SEAT, s, seat, last - seat);
    s[last] = at;
    s[last + SINCE] = now;
    s[last + PERMITS] = permits;
    s[i] = stamp(now, false);
    return true;
  }

  /** Returns the instant at which the seat was taken that would be lost first. */
  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    int size = size(s, i);
    for (int number = firstHeld(s, i, size, now); number < size; number++) {
      int seat = seat(i, number);
      if (own(s, seat) > 0) {
        return s[seat];
      }
    }
    return LONG_AGO;
  }

  @Override
  long balance(long[] s, int i, long now, Policy policy) {
    return policy.quota().permits() - counted(s, i, now);
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    int size = size(s, i);
    long last = size == 0 ? LONG_AGO : s[seat(i, size - 1) + SINCE] + window;
    return Math.max(instant(s[i]) + STEP_NANOS, last);
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long by = now - known;
    s[i] = stamp(instant(s[i]) + by, false);
    int size = size(s, i);
    for (int number = 0; number < size; number++) {
      s[seat(i, number)] += by;
      s[seat(i, number) + SINCE] += by;
    }
  }

  @Override
  long[] copy(long[] s, int i) {
    return Arrays.copyOfRange(s, i, i + Lengths.of(s, i, part));
  }

  @Override
  long[] fitted(long[] s) {
    int longs = Slab.fitting(s.length);
    return longs == s.length ? s : Arrays.copyOf(s, longs);
  }

  @Override
  long[] compact(long[] s) {
    return Arrays.copyOf(s, FIRST + SEAT * Math.max(1, size(s, 0)));
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    int size = size(s, i);
    for (int number = firstHeld(s, i, size, now); number < size; number++) {
      sink.charged(s[seat(i, number) + SINCE], all(s, seat(i, number)));
    }
  }
}
