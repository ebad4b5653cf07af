package dev.weir;

import java.util.Arrays;

/**
 * An algorithm that keeps every admission that still counts, with its instant: the exact sliding
 * window. With instants rounded up to the ends of granules: sliding-window buckets.
 */
final class SlidingLog extends Meter {
  /*
   * How is SlidingLog designed, and why? Time is cut into granules, of one nanosecond for the exact
   * log. The state holds the permits of each granule in which any were charged, in the order of
   * time. A granule counts as long as any of its instants is in the window (t - W, t], and in full:
   * that can only deny, and permits come back at most one granule late. Because of a running total,
   * a decision reads only the entries that have expired since the last charge and, for a refusal,
   * those that must expire before the permits fit.
   *
   * An entry is packed into 32 bits: its permits and the distance to the next entry. The few keys
   * that need more, those with long pauses or many permits, take 96. The newest entry is in the
   * header, where permits can be added to it. So an exact log of 100 entries takes 424 bytes.
   *
   *   s[0]  stamp of the newest entry                 s[2]  total << 32 | the newest entry's permits
   *   s[1]  granule of the oldest                     s[3]  first unit << 16 | units used
   *   from the upper half of s[3] on: a ring of 32-bit units, the lower half of a long first
   *
   * Beyond 65535 units, s[3] is first unit << 32 | units used, and the ring starts at s[4].
   *
   * All of these offsets count from s[i]. A table's states are in the pages of slabs, whose s[0] is
   * the length of each state; a state outside of tables has an array of its own, and i is 0. A step
   * that needs more room returns such an array, and the table finds a place for it.
   *
   * A state grows with the traffic, up to the size that the limit can need, and beyond it only if
   * it must. At MAX_LONGS, and where the bound on memory does not allow it to grow, neighbours are
   * merged into the later instant: permits then count for longer, which can only deny. A log that
   * only records what others admit is merged in the same way as soon as it has more entries than
   * its own limit could need.
   *
   * A reservation is an entry in the future. Entries are dropped only when they are older than the
   * window of the present, never by the window of a reservation, so a cancelled one leaves
   * everything as it was.
   */
  private static final int NEWEST = 0;
  private static final int OLDEST = 1;
  private static final int COUNTS = 2;
  private static final int RING = 3;

  /** The longest array whose first unit and number of units fit 16 bits each. */
  private static final int MAX_SMALL = (0xffff + 7) / 2;

  /** The most longs that one key can take: 16 MiB, the exact log of 4 million permits. */
  static final int MAX_LONGS = 1 << 21;

  /**
   * The number of neighbours that are merged into one: more than the three units that the one can
   * take.
   */
  private static final int THINNING = 8;

  /** The mark of the first of the three units of a wide entry. */
  private static final int WIDE = 1 << 31;

  private static final int WIDE_UNITS = 3;

  private static final long LOW = 0xffff_ffffL;

  private final long window;
  private final long granule;

  /** The most granules that count at once. */
  private final long cells;

  /**
   * The number of low bits of a narrow entry's unit that are the distance; the permits are above
   * them.
   */
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

  /**
   * Returns how many longs a state takes: all of its array, or the length given by the slab's page.
   */
  private static int length(long[] s, int i) {
    return i == 0 ? s.length : Slab.blockLongs(s);
  }

  // The ring: units 0 to used - 1, the oldest first.

  private static int units(long[] s, int i) {
    return units(length(s, i));
  }

  private static int units(int longs) {
    return longs > MAX_SMALL ? 2 * (longs - 4) : 2 * longs - 7;
  }

  private static int first(long[] s, int i) {
    return length(s, i) > MAX_SMALL ? (int) (s[i + RING] >>> 32) : (int) s[i + RING] >>> 16;
  }

  private static int used(long[] s, int i) {
    return length(s, i) > MAX_SMALL ? (int) s[i + RING] : (int) s[i + RING] & 0xffff;
  }

  private static void ring(long[] s, int i, int first, int used) {
    s[i + RING] =
        length(s, i) > MAX_SMALL
            ? (long) first << 32 | used
            : (s[i + RING] & ~LOW) | ((long) first << 16 | used);
  }

  /** Returns where a unit is, counted in halves of longs. */
  private static int half(long[] s, int i, int unit) {
    int longs = length(s, i);
    int units = units(longs);
    int place = first(s, i) + unit;
    place -= place >= units ? units : 0;
    place = place >= units || place < 0 ? 0 : place; // Only while another thread changes it.
    return 2 * i + (longs > MAX_SMALL ? 8 : 7) + place;
  }

  private static int unit(long[] s, int i, int unit) {
    int half = half(s, i, unit);
    return (int) (s[half >> 1] >>> ((half & 1) << 5));
  }

  private static void unit(long[] s, int i, int unit, int value) {
    int half = half(s, i, unit);
    int shift = (half & 1) << 5;
    s[half >> 1] = (s[half >> 1] & ~(LOW << shift)) | (value & LOW) << shift;
  }

  // An entry of the ring, by its first unit.

  private static int width(int head) {
    return head < 0 ? WIDE_UNITS : 1;
  }

  private long permits(long[] s, int i, int unit, int head) {
    return head < 0 ? unit(s, i, unit + 2) & LOW : (head >>> distanceBits) + 1;
  }

  private long distance(long[] s, int i, int unit, int head) {
    return head < 0
        ? (long) (head & ~WIDE) << 32 | (unit(s, i, unit + 1) & LOW)
        : head & distanceMask;
  }

  private boolean narrow(long permits, long distance) {
    return distance <= distanceMask
        && permits > 0
        && permits - 1 <= Integer.MAX_VALUE >>> distanceBits;
  }

  private static long total(long[] s, int i) {
    return s[i + COUNTS] >>> 32;
  }

  private static long newestPermits(long[] s, int i) {
    return s[i + COUNTS] & LOW;
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

  private long newestGranule(long[] s, int i) {
    return granuleOf(instant(s[i + NEWEST]));
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effective(s[i + NEWEST], now);
  }

  private long counted(long[] s, int i, long at) {
    long cut = oldest(at);
    if (newestGranule(s, i) < cut) {
      return 0;
    }
    long counted = total(s, i);
    long index = s[i + OLDEST];
    int used = used(s, i);
    for (int unit = 0; unit < used && index < cut; ) {
      int head = unit(s, i, unit);
      counted -= permits(s, i, unit, head);
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    return counted;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long at = Math.max(now, instant(s[i + NEWEST]));
    long cut = oldest(at);
    long newest = newestGranule(s, i);
    if (newest < cut) {
      return at - now;
    }
    long over = total(s, i) + permits - policy.quota().permits();
    long index = s[i + OLDEST];
    int used = used(s, i);
    int unit = 0;
    while (unit < used && index < cut) {
      int head = unit(s, i, unit);
      over -= permits(s, i, unit, head);
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    if (over <= 0) {
      return at - now;
    }
    while (unit < used) {
      int head = unit(s, i, unit);
      over -= permits(s, i, unit, head);
      if (over <= 0) {
        return end(index) + window - now;
      }
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    return end(newest) + window - now;
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    trim(s, i, oldest(now));
    return append(s, i, now + wait, permits, wait > 0, policy.quota().permits(), mayGrow);
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
    trim(s, i, oldest(now));
    // Everything that counts is kept, however small this limit is: a larger one may follow.
    long limit = policy.quota().permits();
    long[] room = used(s, i) < 2 * Math.max(Policy.LOG_LIMIT, limit) ? s : thinned(s, i);
    return append(room, room == s ? i : 0, at, permits, at > now, limit, mayGrow);
  }

  /** Drops the entries before a granule. */
  private void trim(long[] s, int i, long cut) {
    if (s[i + OLDEST] >= cut) {
      return;
    }
    if (newestGranule(s, i) < cut) {
      ring(s, i, 0, 0);
      s[i + COUNTS] = 0;
      return;
    }
    long index = s[i + OLDEST];
    long gone = 0;
    int used = used(s, i);
    int unit = 0;
    while (unit < used && index < cut) {
      int head = unit(s, i, unit);
      gone += permits(s, i, unit, head);
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    s[i + OLDEST] = index;
    s[i + COUNTS] -= gone << 32;
    int first = first(s, i) + unit;
    ring(s, i, used == unit ? 0 : first < units(s, i) ? first : first - units(s, i), used - unit);
  }

  /** Adds permits at an instant, or at that of the newest entry if the instant is older. */
  private long[] append(
      long[] s, int i, long wanted, long permits, boolean ahead, long limit, boolean mayGrow) {
    boolean older = wanted < instant(s[i + NEWEST]);
    long at = older ? instant(s[i + NEWEST]) : wanted;
    boolean reserved = older ? reserved(s[i + NEWEST]) : ahead;
    long total = total(s, i) + permits;
    if (total > LOW) {
      return collapsed(s, i, at, LOW, reserved); // Beyond any limit, until all of it has expired.
    }
    long distance = granuleOf(at) - newestGranule(s, i);
    long before = newestPermits(s, i);
    int used = used(s, i);
    int need = before == 0 ? 2 : distance == 0 ? 0 : narrow(before, distance) ? 1 : WIDE_UNITS;
    if (used + need > units(s, i) && (before > 0 || used > 0)) {
      long[] grown = mayGrow ? grown(s, i, used + need, limit) : s;
      long[] roomy = grown == s ? thinned(s, i) : grown;
      return used(roomy, 0) + need > units(roomy, 0)
          ? collapsed(s, i, at, total, reserved)
          : append(roomy, 0, at, permits, reserved, limit, false);
    }
    if (before == 0 && used == 0) {
      s[i + OLDEST] = granuleOf(at);
    } else if (before == 0) {
      lengthen(s, i, distance);
    } else if (distance > 0) {
      push(s, i, before, distance);
      before = 0;
    }
    s[i + NEWEST] = stamp(at, reserved);
    s[i + COUNTS] = total << 32 | (before + permits);
    return s;
  }

  /** Merges all entries into one, which counts for longer. */
  private long[] collapsed(long[] s, int i, long at, long total, boolean reserved) {
    ring(s, i, 0, 0);
    s[i + OLDEST] = granuleOf(at);
    s[i + NEWEST] = stamp(at, reserved);
    s[i + COUNTS] = total << 32 | total;
    return s;
  }

  private void push(long[] s, int i, long permits, long distance) {
    int used = used(s, i);
    if (narrow(permits, distance)) {
      ring(s, i, first(s, i), used + 1);
      unit(s, i, used, (int) (permits - 1) << distanceBits | (int) distance);
    } else {
      ring(s, i, first(s, i), used + WIDE_UNITS);
      unit(s, i, used, WIDE | (int) (distance >>> 32));
      unit(s, i, used + 1, (int) distance);
      unit(s, i, used + 2, (int) permits);
    }
  }

  /** Moves the newest entry, whose permits are all gone, away from the one before it. */
  private void lengthen(long[] s, int i, long byGranules) {
    int last = 0;
    int used = used(s, i);
    for (int unit = 0; unit < used; unit += width(unit(s, i, unit))) {
      last = unit;
    }
    int head = unit(s, i, last);
    long permits = permits(s, i, last, head);
    long distance = distance(s, i, last, head);
    ring(s, i, first(s, i), last);
    push(s, i, permits, distance + byGranules);
  }

  /**
   * Returns a copy with room for {@code units} units; the state itself if it may not be that large.
   */
  private long[] grown(long[] s, int i, int units, long limit) {
    int exact = (int) Math.min(MAX_LONGS, (Math.min(limit, cells) + 7) / 2);
    int longs = length(s, i);
    do {
      int larger = longs < exact ? Math.min(2 * longs - 2, exact) : longs + longs / 4 + 2;
      longs =
          Math.min(
              MAX_LONGS,
              Slab.fitting(larger)); // So that what fits does not depend on earlier sizes.
    } while (longs < MAX_LONGS && units(longs) < units);
    if (units(longs) < units) {
      return s;
    }
    return copied(s, i, longs);
  }

  /** Returns a copy in which each {@link #THINNING} neighbours are merged into the latest. */
  private long[] thinned(long[] s, int i) {
    long[] thinned = blank(length(s, i));
    long index = s[i + OLDEST];
    long merged = 0;
    int entries = 0;
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      merged += permits(s, i, unit, head);
      if (++entries % THINNING == 0) {
        thinned = append(thinned, 0, end(index), merged, false, 0, false);
        merged = 0;
      }
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    merged += newestPermits(s, i);
    thinned = merged > 0 ? append(thinned, 0, end(index), merged, false, 0, false) : thinned;
    thinned[NEWEST] = s[i + NEWEST];
    return thinned;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long wanted = granuleOf(at);
    if (wanted < oldest(now)) {
      return 0;
    }
    long index = s[i + OLDEST];
    int used = used(s, i);
    for (int unit = 0; unit < used && index <= wanted; ) {
      int head = unit(s, i, unit);
      if (index == wanted) {
        return Math.min(permits, permits(s, i, unit, head));
      }
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    return wanted == newestGranule(s, i) ? Math.min(permits, newestPermits(s, i)) : 0;
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    long wanted = granuleOf(at);
    boolean newest = wanted == newestGranule(s, i);
    boolean cancelled = newest && permits == newestPermits(s, i) && instant(s[i + NEWEST]) > now;
    if (newest && !cancelled) {
      s[i + COUNTS] -= permits << 32 | permits;
      return s;
    }
    long limit = policy.quota().permits();
    long[] t = blank(length(s, i));
    long index = s[i + OLDEST];
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      long kept = permits(s, i, unit, head) - (index == wanted ? permits : 0);
      t = kept > 0 ? append(t, 0, end(index), kept, false, limit, true) : t;
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    if (!cancelled) {
      t =
          newestPermits(s, i) > 0
              ? append(t, 0, end(index), newestPermits(s, i), false, limit, true)
              : t;
      return timed(t, s[i + NEWEST], limit);
    }
    // Later requests no longer queue behind the cancelled entry, but behind the one before it.
    boolean reserved = newestGranule(t, 0) > granuleOf(now);
    return timed(t, reserved ? stamp(instant(t[NEWEST]), true) : stamp(now, false), limit);
  }

  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    if (newestPermits(s, i) > 0) {
      return instant(s[i + NEWEST]);
    }
    long newest = LONG_AGO;
    long index = s[i + OLDEST];
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      newest = end(index);
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    return newest;
  }

  /** Returns the state with its time set, by an entry without permits if necessary. */
  private long[] timed(long[] s, long stamp, long limit) {
    long[] t = s;
    if (granuleOf(instant(stamp)) > newestGranule(s, 0)) {
      t = append(s, 0, instant(stamp), 1, false, limit, true);
      t[COUNTS] -= 1L << 32 | 1;
    }
    t[NEWEST] = stamp;
    return t;
  }

  @Override
  long balance(long[] s, int i, long now, Policy policy) {
    if (instant(s[i + NEWEST]) > now) {
      return 0;
    }
    return policy.quota().permits() - counted(s, i, now);
  }

  @Override
  long resetAtNanos(long[] s, int i) {
    return end(newestGranule(s, i)) + window;
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long granules = -Math.floorDiv(known - now, granule); // Rounded up: later is longer.
    s[i + OLDEST] += granules;
    s[i + NEWEST] = stamp(instant(s[i + NEWEST]) + granules * granule, reserved(s[i + NEWEST]));
  }

  /**
   * Returns the same words for equal states, whatever arrays the entries have been through, and
   * wherever in them they begin.
   */
  @Override
  long[] compact(long[] s) {
    int used = used(s, 0);
    int longs = Math.max(4, (used + 8) / 2);
    return copied(s, 0, units(longs) < used ? longs + 1 : longs);
  }

  @Override
  long[] copy(long[] s, int i) {
    return Arrays.copyOfRange(s, i, i + length(s, i));
  }

  @Override
  long[] fitted(long[] s) {
    int longs = Slab.fitting(s.length);
    return longs == s.length ? s : copied(s, 0, longs);
  }

  /** Returns a copy of another length, whose ring begins with its first unit. */
  private static long[] copied(long[] s, int i, int longs) {
    long[] t = new long[longs];
    System.arraycopy(s, i, t, 0, RING);
    int used = used(s, i);
    ring(t, 0, 0, used);
    for (int unit = 0; unit < used; unit++) {
      unit(t, 0, unit, unit(s, i, unit));
    }
    return t;
  }

  @Override
  void forEachCharge(long[] s, int i, long now, Policy policy, Sink sink) {
    long cut = oldest(now);
    long index = s[i + OLDEST];
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      if (index >= cut) {
        sink.charged(Math.min(end(index), instant(s[i + NEWEST])), permits(s, i, unit, head));
      }
      index += distance(s, i, unit, head);
      unit += width(head);
    }
    if (index >= cut && newestPermits(s, i) > 0) {
      sink.charged(instant(s[i + NEWEST]), newestPermits(s, i));
    }
  }
}
