package dev.weir;

/**
 * Every admission that still counts, with its instant: the exact sliding window. With instants
 * rounded up to the ends of granules: sliding-window buckets.
 */
final class SlidingLog extends Meter {
  /*
   * How is SlidingLog designed, and why? Time is cut into granules, of one nanosecond for the exact
   * log. The state is the permits charged in each granule that was charged at all, in the order of
   * time. A granule counts as long as any of its instants is in the window (t - W, t], and in full:
   * that can only deny, and permits come back at most one granule late. A running total makes a
   * decision look only at what has expired since the last charge and, if it is a refusal, at what
   * must expire before the permits fit.
   *
   * An entry is packed into 32 bits: its permits and the distance to the next entry. Few keys need
   * more, those with long pauses or many permits, and take 96. The newest entry stands in the
   * header, where permits can be added to it. So an exact log of 100 entries takes 440 bytes, its
   * array's header included.
   *
   *   s[0]  stamp of the newest entry                 s[2]  total << 32 | the newest entry's permits
   *   s[1]  granule of the oldest                     s[3]  first unit << 16 | units used
   *   from the upper half of s[3] on: a ring of 32-bit units, the lower half of a long first
   *
   * Beyond 65535 units, s[3] is first unit << 32 | units used, and the ring starts at s[4].
   *
   * The array grows with the traffic, up to what the limit can need and then as it must. At
   * MAX_LONGS, and where the memory's bound does not let it grow, neighbours are merged into the
   * later instant: that keeps permits counted for longer and so can only deny. So is a log that only
   * records what others admit, as soon as it has more entries than its own limit could need.
   *
   * A reservation is an entry in the future. Entries leave only when they are older than the
   * present's window, never a reservation's, so a cancelled one leaves everything as it was.
   */
  private static final int NEWEST = 0;
  private static final int OLDEST = 1;
  private static final int COUNTS = 2;
  private static final int RING = 3;

  /** The longest array whose first unit and number of units fit 16 bits each. */
  private static final int MAX_SMALL = (0xffff + 7) / 2;

  /** What one key can cost: 16 MiB, the exact log of 4 million permits. */
  static final int MAX_LONGS = 1 << 21;

  /** How many neighbours become one: more than the three units that the one can take. */
  private static final int THINNING = 8;

  /** Marks the first of the three units of a wide entry. */
  private static final int WIDE = 1 << 31;

  private static final int WIDE_UNITS = 3;

  private static final long LOW = 0xffff_ffffL;

  private final long window;
  private final long granule;

  /** The most granules that count at once. */
  private final long cells;

  /** How a narrow entry's unit is divided: the distance in so many low bits, the permits above. */
  private final int distanceBits;

  private final int distanceMask;

  SlidingLog(long windowNanos, long granuleNanos) {
    this.window = windowNanos;
    this.granule = granuleNanos;
    this.cells = (windowNanos + granuleNanos - 1) / granuleNanos + 1;
    this.distanceBits = Math.min(31, 64 - Long.numberOfLeadingZeros(cells));
    this.distanceMask = (int) ((1L << distanceBits) - 1);
  }

  @Override
  int words() {
    return 0;
  }

  @Override
  long[] fresh() {
    return blank(4);
  }

  private static long[] blank(int longs) {
    long[] s = new long[longs];
    s[NEWEST] = stamp(LONG_AGO, false);
    return s;
  }

  // The ring: units 0 to used - 1, the oldest first.

  private static int units(long[] s) {
    return units(s.length);
  }

  private static int units(int longs) {
    return longs > MAX_SMALL ? 2 * (longs - 4) : 2 * longs - 7;
  }

  private static int first(long[] s) {
    return s.length > MAX_SMALL ? (int) (s[RING] >>> 32) : (int) s[RING] >>> 16;
  }

  private static int used(long[] s) {
    return s.length > MAX_SMALL ? (int) s[RING] : (int) s[RING] & 0xffff;
  }

  private static void ring(long[] s, int first, int used) {
    s[RING] =
        s.length > MAX_SMALL
            ? (long) first << 32 | used
            : (s[RING] & ~LOW) | ((long) first << 16 | used);
  }

  /** Returns where a unit stands, counted in halves of longs. */
  private static int half(long[] s, int unit) {
    int units = units(s);
    int place = first(s) + unit;
    place -= place >= units ? units : 0;
    return (s.length > MAX_SMALL ? 8 : 7)
        + (place >= units ? 0 : place); // Above: only while changing.
  }

  private static int unit(long[] s, int unit) {
    int half = half(s, unit);
    return (int) (s[half >> 1] >>> ((half & 1) << 5));
  }

  private static void unit(long[] s, int unit, int value) {
    int half = half(s, unit);
    int shift = (half & 1) << 5;
    s[half >> 1] = (s[half >> 1] & ~(LOW << shift)) | (value & LOW) << shift;
  }

  // An entry of the ring, by its first unit.

  private static int width(int head) {
    return head < 0 ? WIDE_UNITS : 1;
  }

  private long permits(long[] s, int unit, int head) {
    return head < 0 ? unit(s, unit + 2) & LOW : (head >>> distanceBits) + 1;
  }

  private long distance(long[] s, int unit, int head) {
    return head < 0 ? (long) (head & ~WIDE) << 32 | (unit(s, unit + 1) & LOW) : head & distanceMask;
  }

  private boolean narrow(long permits, long distance) {
    return distance <= distanceMask
        && permits > 0
        && permits - 1 <= Integer.MAX_VALUE >>> distanceBits;
  }

  private static long total(long[] s) {
    return s[COUNTS] >>> 32;
  }

  private static long newestPermits(long[] s) {
    return s[COUNTS] & LOW;
  }

  private long granuleOf(long at) {
    return granule == 1 ? at : Math.floorDiv(at, granule);
  }

  /** Returns the last instant of a granule: its permits count until a window later. */
  private long end(long index) {
    return index * granule + (granule - 1);
  }

  /** Returns the oldest granule that counts at an instant. */
  private long oldest(long at) {
    return granuleOf(at - window + 1);
  }

  private long newestGranule(long[] s) {
    return granuleOf(instant(s[NEWEST]));
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effective(s[NEWEST], now);
  }

  private long counted(long[] s, long at) {
    long cut = oldest(at);
    if (newestGranule(s) < cut) {
      return 0;
    }
    long counted = total(s);
    long index = s[OLDEST];
    int used = used(s);
    for (int unit = 0; unit < used && index < cut; ) {
      int head = unit(s, unit);
      counted -= permits(s, unit, head);
      index += distance(s, unit, head);
      unit += width(head);
    }
    return counted;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long at = Math.max(now, instant(s[NEWEST]));
    long cut = oldest(at);
    long newest = newestGranule(s);
    if (newest < cut) {
      return at - now;
    }
    long over = total(s) + permits - policy.quota().permits();
    long index = s[OLDEST];
    int used = used(s);
    int unit = 0;
    while (unit < used && index < cut) {
      int head = unit(s, unit);
      over -= permits(s, unit, head);
      index += distance(s, unit, head);
      unit += width(head);
    }
    if (over <= 0) {
      return at - now;
    }
    while (unit < used) {
      int head = unit(s, unit);
      over -= permits(s, unit, head);
      if (over <= 0) {
        return end(index) + window - now;
      }
      index += distance(s, unit, head);
      unit += width(head);
    }
    return end(newest) + window - now;
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    trim(s, oldest(now));
    return append(s, now + wait, permits, wait > 0, policy.quota().permits(), mayGrow);
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
    trim(s, oldest(now));
    // Nothing that counts is dropped, however small this limit: a larger one may follow.
    long limit = policy.quota().permits();
    long[] room = used(s) < 2 * Math.max(Policy.LOG_LIMIT, limit) ? s : thinned(s);
    return append(room, at, permits, at > now, limit, mayGrow);
  }

  /** Drops what lies before a granule. */
  private void trim(long[] s, long cut) {
    if (s[OLDEST] >= cut) {
      return;
    }
    if (newestGranule(s) < cut) {
      ring(s, 0, 0);
      s[COUNTS] = 0;
      return;
    }
    long index = s[OLDEST];
    long gone = 0;
    int used = used(s);
    int unit = 0;
    while (unit < used && index < cut) {
      int head = unit(s, unit);
      gone += permits(s, unit, head);
      index += distance(s, unit, head);
      unit += width(head);
    }
    s[OLDEST] = index;
    s[COUNTS] -= gone << 32;
    int first = first(s) + unit;
    ring(s, used == unit ? 0 : first < units(s) ? first : first - units(s), used - unit);
  }

  /** Adds permits at an instant; at that of the newest entry if it is older. */
  private long[] append(
      long[] s, long wanted, long permits, boolean ahead, long limit, boolean mayGrow) {
    boolean older = wanted < instant(s[NEWEST]);
    long at = older ? instant(s[NEWEST]) : wanted;
    boolean reserved = older ? reserved(s[NEWEST]) : ahead;
    long total = total(s) + permits;
    if (total > LOW) {
      return collapsed(s, at, LOW, reserved); // Beyond any limit, until the whole has expired.
    }
    long distance = granuleOf(at) - newestGranule(s);
    long before = newestPermits(s);
    int used = used(s);
    int need = before == 0 ? 2 : distance == 0 ? 0 : narrow(before, distance) ? 1 : WIDE_UNITS;
    if (used + need > units(s) && (before > 0 || used > 0)) {
      long[] grown = mayGrow ? grown(s, used + need, limit) : s;
      long[] roomy = grown == s ? thinned(s) : grown;
      return used(roomy) + need > units(roomy)
          ? collapsed(s, at, total, reserved)
          : append(roomy, at, permits, reserved, limit, false);
    }
    if (before == 0 && used == 0) {
      s[OLDEST] = granuleOf(at);
    } else if (before == 0) {
      lengthen(s, distance);
    } else if (distance > 0) {
      push(s, before, distance);
      before = 0;
    }
    s[NEWEST] = stamp(at, reserved);
    s[COUNTS] = total << 32 | (before + permits);
    return s;
  }

  /** Makes one entry of everything: it counts for longer. */
  private long[] collapsed(long[] s, long at, long total, boolean reserved) {
    ring(s, 0, 0);
    s[OLDEST] = granuleOf(at);
    s[NEWEST] = stamp(at, reserved);
    s[COUNTS] = total << 32 | total;
    return s;
  }

  private void push(long[] s, long permits, long distance) {
    int used = used(s);
    if (narrow(permits, distance)) {
      ring(s, first(s), used + 1);
      unit(s, used, (int) (permits - 1) << distanceBits | (int) distance);
    } else {
      ring(s, first(s), used + WIDE_UNITS);
      unit(s, used, WIDE | (int) (distance >>> 32));
      unit(s, used + 1, (int) distance);
      unit(s, used + 2, (int) permits);
    }
  }

  /** Moves the newest entry, which has no permits any more, away from the one before it. */
  private void lengthen(long[] s, long byGranules) {
    int last = 0;
    int used = used(s);
    for (int unit = 0; unit < used; unit += width(unit(s, unit))) {
      last = unit;
    }
    int head = unit(s, last);
    long permits = permits(s, last, head);
    long distance = distance(s, last, head);
    ring(s, first(s), last);
    push(s, permits, distance + byGranules);
  }

  /** Returns a copy with room for so many units; the state itself if it may not be that large. */
  private long[] grown(long[] s, int units, long limit) {
    int exact = (int) Math.min(MAX_LONGS, (Math.min(limit, cells) + 7) / 2);
    int longs = s.length;
    do {
      int larger = longs < exact ? Math.min(2 * longs - 2, exact) : longs + longs / 4 + 2;
      longs = Math.min(MAX_LONGS, larger); // So that what fits does not depend on earlier sizes.
    } while (longs < MAX_LONGS && units(longs) < units);
    if (units(longs) < units) {
      return s;
    }
    long[] grown = new long[longs];
    System.arraycopy(s, 0, grown, 0, RING);
    int used = used(s);
    ring(grown, 0, used);
    for (int unit = 0; unit < used; unit++) {
      unit(grown, unit, unit(s, unit));
    }
    return grown;
  }

  /** Returns a copy of which each {@link #THINNING} neighbours are merged into the latest. */
  private long[] thinned(long[] s) {
    long[] thinned = blank(s.length);
    long index = s[OLDEST];
    long merged = 0;
    int entries = 0;
    int used = used(s);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, unit);
      merged += permits(s, unit, head);
      if (++entries % THINNING == 0) {
        thinned = append(thinned, end(index), merged, false, 0, false);
        merged = 0;
      }
      index += distance(s, unit, head);
      unit += width(head);
    }
    merged += newestPermits(s);
    thinned = merged > 0 ? append(thinned, end(index), merged, false, 0, false) : thinned;
    thinned[NEWEST] = s[NEWEST];
    return thinned;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long wanted = granuleOf(at);
    if (wanted < oldest(now)) {
      return 0;
    }
    long index = s[OLDEST];
    int used = used(s);
    for (int unit = 0; unit < used && index <= wanted; ) {
      int head = unit(s, unit);
      if (index == wanted) {
        return Math.min(permits, permits(s, unit, head));
      }
      index += distance(s, unit, head);
      unit += width(head);
    }
    return wanted == newestGranule(s) ? Math.min(permits, newestPermits(s)) : 0;
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    long wanted = granuleOf(at);
    boolean newest = wanted == newestGranule(s);
    boolean cancelled = newest && permits == newestPermits(s) && instant(s[NEWEST]) > now;
    if (newest && !cancelled) {
      s[COUNTS] -= permits << 32 | permits;
      return s;
    }
    long limit = policy.quota().permits();
    long[] t = blank(s.length);
    long index = s[OLDEST];
    int used = used(s);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, unit);
      long kept = permits(s, unit, head) - (index == wanted ? permits : 0);
      t = kept > 0 ? append(t, end(index), kept, false, limit, true) : t;
      index += distance(s, unit, head);
      unit += width(head);
    }
    if (!cancelled) {
      t = newestPermits(s) > 0 ? append(t, end(index), newestPermits(s), false, limit, true) : t;
      return timed(t, s[NEWEST], limit);
    }
    // Later requests need not queue behind the cancelled entry any more, but behind the one before
    // it.
    boolean reserved = newestGranule(t) > granuleOf(now);
    return timed(t, reserved ? stamp(instant(t[NEWEST]), true) : stamp(now, false), limit);
  }

  /** Returns the state with its time set, by an entry without permits if need be. */
  private long[] timed(long[] s, long stamp, long limit) {
    long[] t = s;
    if (granuleOf(instant(stamp)) > newestGranule(s)) {
      t = append(s, instant(stamp), 1, false, limit, true);
      t[COUNTS] -= 1L << 32 | 1;
    }
    t[NEWEST] = stamp;
    return t;
  }

  @Override
  long remaining(long[] s, int i, long now, Policy policy) {
    if (instant(s[NEWEST]) > now) {
      return 0;
    }
    return Math.max(0, policy.quota().permits() - counted(s, now));
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return end(newestGranule(s)) + window;
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long granules = -Math.floorDiv(known - now, granule); // Rounded up: later is longer.
    s[OLDEST] += granules;
    s[NEWEST] = stamp(instant(s[NEWEST]) + granules * granule, reserved(s[NEWEST]));
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    long cut = oldest(now);
    long index = s[OLDEST];
    int used = used(s);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, unit);
      if (index >= cut) {
        sink.charged(Math.min(end(index), instant(s[NEWEST])), permits(s, unit, head));
      }
      index += distance(s, unit, head);
      unit += width(head);
    }
    if (index >= cut && newestPermits(s) > 0) {
      sink.charged(instant(s[NEWEST]), newestPermits(s));
    }
  }
}
