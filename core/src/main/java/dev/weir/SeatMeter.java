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
   * come back either, since later requests have later instants. It grows by whole
   * microseconds, since stores that processes share mark instants by what is beyond; but by
   * nanoseconds where it is ahead of the clock by a part of the window, as after a million changes
   * a second: seats are lost by this time, and holders count with a hundredth less.
   *
   *   s[0]  stamp of the latest change                s[1]  total << 32 | number of seats
   *   then three longs a seat: the instant at which it was taken, the instant since which it counts,
   *   permits of others << 32 | its own permits
   *
   * Seats lie in the order of the instants since which they count: a seat that is renewed moves
   * behind the others. So those that are lost are the first ones. A seat that was taken under
   * another hold counts since another instant, so that it ends with its own hold; that may be ahead
   * of the key's time.
   *
   * Where the bound on memory allows no more room, permits are added to the last seat, as those of
   * others: they are lost when it is. The seat that was to be added is not found again, so it counts
   * until then, which can only deny. A seat whose own permits are back is not found either, although
   * those of others stay; and one that has those of others cannot be renewed, since theirs must end.
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

  private static final long MICRO = 1_000;

  /** The part of the window by which the time of a key may be ahead of the clock. */
  private static final long AHEAD_PARTS = 1_000;

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
    return Math.max(nowNanos, next(s, i, nowNanos));
  }

  /** Returns the least instant of the next change. */
  private long next(long[] s, int i, long nowNanos) {
    long next = instant(s[i]) + MICRO;
    return next - nowNanos <= window / AHEAD_PARTS ? next : next - MICRO + 1;
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
    return add(s, i, now, now + wait, permits, mayGrow);
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
    return add(s, i, now, at, permits, mayGrow);
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

  /**
   * Adds a seat.
   *
   * @param taken the instant at which it was taken
   * @param since the instant since which it counts
   */
  private long[] add(long[] s, int i, long taken, long since, long permits, boolean mayGrow) {
    int size = size(s, i);
    long more = Math.min(permits, LOW - (s[i + COUNTS] >>> 32));
    int number = place(s, i, size, since);
    int before = seat(i, number - 1);
    boolean same = number > 0 && s[before] == taken && s[before + SINCE] == since; // One request.
    int room = (Lengths.of(s, i, part) - FIRST) / SEAT;
    if (!same && size == room && mayGrow && size < MOST_SEATS) {
      return add(grown(s, i, size), 0, taken, since, permits, false);
    }
    if (same) {
      s[before + PERMITS] += more;
      count(s, i, more, 0);
    } else if (size < room) {
      int seat = seat(i, number);
      System.arraycopy(s, seat, s, seat + SEAT, SEAT * (size - number));
      s[seat] = taken;
      s[seat + SINCE] = since;
      s[seat + PERMITS] = more;
      s[i] = stamp(Math.max(taken, instant(s[i])), false);
      count(s, i, more, 1);
    } else {
      int last = seat(i, size - 1);
      s[last + SINCE] = Math.max(since, s[last + SINCE]);
      s[last + PERMITS] += more << 32;
      s[i] = stamp(Math.max(taken, instant(s[i])), false);
      count(s, i, more, 0);
    }
    return s;
  }

  /** Returns the number of the first seat that counts since a later instant. */
  private static int place(long[] s, int i, int size, long since) {
    int number = size;
    while (number > 0 && s[seat(i, number - 1) + SINCE] > since) {
      number--;
    }
    return number;
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
  boolean renew(long[] s, int i, long now, long at, long laterNanos) {
    int found = find(s, i, now, at);
    if (found < 0 || all(s, seat(i, found)) > own(s, seat(i, found))) {
      return false;
    }
    int seat = seat(i, found);
    long permits = s[seat + PERMITS];
    long since = Math.max(now + laterNanos, s[seat + SINCE]);
    int number = place(s, i, size(s, i), since) - 1; // This one is among those before it.
    System.arraycopy(s, seat + SEAT, s, seat, SEAT * (number - found));
    int last = seat(i, number);
    s[last] = at;
    s[last + SINCE] = since;
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
    return Math.max(instant(s[i]) + MICRO, last);
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

  /** A receiver of the seats that a state still counts. */
  interface SeatSink {
    /**
     * Accepts a seat.
     *
     * @param taken the instant at which it was taken; {@link #LONG_AGO} for the permits of several
     *     seats, which are not known any more
     * @param since the instant since which it counts
     */
    void seat(long taken, long since, long permits);
  }

  /** Passes to the sink all seats that the state still counts, those first that are lost first. */
  void forEachSeat(long[] s, long now, SeatSink sink) {
    int size = size(s, 0);
    for (int number = firstHeld(s, 0, size, now); number < size; number++) {
      int seat = seat(0, number);
      long own = own(s, seat);
      if (own > 0) {
        sink.seat(s[seat], s[seat + SINCE], own);
      }
      if (all(s, seat) > own) {
        sink.seat(LONG_AGO, s[seat + SINCE], all(s, seat) - own);
      }
    }
  }

  /** Adds a seat that another state counts, under the same name, for as long as it counts there. */
  long[] copySeat(long[] s, long taken, long since, long permits) {
    return add(s, 0, taken, since, permits, true);
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    int size = size(s, i);
    for (int number = firstHeld(s, i, size, now); number < size; number++) {
      sink.charged(s[seat(i, number) + SINCE], all(s, seat(i, number)));
    }
  }
}
