package dev.weir;

import java.util.Arrays;

/**
 * An algorithm that keeps every admission that still counts, with its instant rounded up to the end
 * of a granule. A subclass determines how granules lie in time, and how entries are coded.
 */
abstract class SlidingLog extends Meter {
  /*
   * How is SlidingLog designed, and why? Time is cut into granules, of one nanosecond for the exact
   * log. The state holds the permits of each granule in which any were charged, in the order of
   * time. A granule counts as long as its end is in the window (t - W, t], and in full: that can
   * only deny, and permits come back at most one granule late. Because of a running total, a
   * decision reads only the entries that have expired since the last charge and, for a refusal,
   * those that must expire before the permits fit.
   *
   * An entry is its permits and the distance to the next entry. It is coded into units: most
   * entries take one, the few keys with long pauses or many permits take more. The newest entry is
   * in the header, where permits can be added to it.
   *
   *   s[0]  stamp of the newest entry                 s[2]  total << 32 | the newest entry's permits
   *   s[1]  the oldest granule                        s[3]  first unit << 16 | units used
   *   from the upper half of s[3] on: a ring of units, those of a long from the lowest bits up
   *
   * Beyond 65535 units, s[3] is first unit << 32 | units used, and the ring starts at s[4].
   *
   * All of these offsets count from s[i]. A table's states are in the pages of slabs, whose s[0] is
   * the lengths of each state's parts; a state outside of tables has an array of its own, and i is 0. A step
   * that needs more room returns such an array, and the table finds a place for it.
   *
   * A state grows with the traffic, up to the size that the limit can need, and beyond it only if
   * it must. At the most longs, and where the bound on memory does not allow it to grow, neighbours
   * are merged into the later instant: permits then count for longer, which can only deny. A log
   * that only records what others admit is merged in the same way as soon as it has more entries
   * than its own limit could need.
   *
   * A reservation is an entry in the future. Entries are dropped only when they are older than the
   * window of the present, never by the window of a reservation, so a cancelled one leaves
   * everything as it was.
   */
  static final int NEWEST = 0;
  static final int OLDEST = 1;
  private static final int COUNTS = 2;
  private static final int RING = 3;

  /** The most longs that one key can take: 16 MiB, the exact log of 4 million permits. */
  static final int MAX_LONGS = 1 << 21;

  /** The most units whose first and whose number fit 16 bits each. */
  private static final int MAX_SMALL_UNITS = 0xffff;

  /** The number of neighbours that are merged into one: so many that it takes fewer units. */
  private static final int THINNING = 8;

  static final long LOW = 0xffff_ffffL;

  final long window;
  final long granule;

  /** The most granules that count at once. */
  final long cells;

  private final int part;
  private final int maxLongs;

  /** The logarithm of the units of a long: 1 or 3. */
  private final int unitsBits;

  private final int unitBits;
  private final long unitMask;

  /** The longest array whose first unit and number of units fit 16 bits each. */
  private final int maxSmall;

  /**
   * Creates a log.
   *
   * @param unitsBits the logarithm of the units of a long: 1 or 3
   * @param part the part of a key's state that is read and written
   */
  SlidingLog(long windowNanos, long granuleNanos, int unitsBits, int part) {
    this.part = part;
    this.maxLongs = part == 0 ? MAX_LONGS : Lengths.MOST_LATER;
    this.window = windowNanos;
    this.granule = granuleNanos;
    this.cells = (windowNanos + granuleNanos - 1) / granuleNanos + 1;
    this.unitsBits = unitsBits;
    this.unitBits = Long.SIZE >> unitsBits;
    this.unitMask = (1L << unitBits) - 1;
    this.maxSmall = (MAX_SMALL_UNITS + header(0)) >> unitsBits; // 0 longs are few.
  }

  // The coding of an entry.

  /** Returns how many units an entry takes. */
  abstract int width(long permits, long distance);

  /** Returns how many units an entry takes that begins with a unit, at least 1. */
  abstract int width(int head);

  abstract long permits(long[] s, int i, int unit, int head);

  /** Returns the number of granules to the next entry. */
  abstract long distance(long[] s, int i, int unit, int head);

  /** Writes an entry, from a unit on. */
  abstract void write(long[] s, int i, int unit, long permits, long distance);

  /** Returns how many longs more a state gets that has as many as its limit usually needs. */
  abstract int further(int longs);

  // The granules.

  /** Returns the end of the oldest granule, if the state counts any. */
  abstract long oldestEnd(long[] s, int i);

  abstract void oldestEnd(long[] s, int i, long end);

  /** Returns the last instant of a granule: its permits count until a window later. */
  abstract long end(long[] s, int i, long at);

  /** Returns the instant from which the newest entry counts for a window. */
  abstract long newestCounts(long[] s, int i);

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

  private int length(long[] s, int i) {
    return Lengths.of(s, i, part);
  }

  // The ring: units 0 to used - 1, the oldest first.

  private int units(long[] s, int i) {
    return units(length(s, i));
  }

  private int units(int longs) {
    return (longs << unitsBits) - header(longs);
  }

  /** Returns how many units the ring of an array begins after its start. */
  private int header(int longs) {
    return (longs > maxSmall ? 8 : 7) << (unitsBits - 1);
  }

  /** Returns the least number of longs with room for a number of units. */
  private int longs(long units) {
    return (int) ((units + header(0) + (1L << unitsBits) - 1) >> unitsBits);
  }

  private int first(long[] s, int i) {
    return length(s, i) > maxSmall ? (int) (s[i + RING] >>> 32) : (int) s[i + RING] >>> 16;
  }

  private int used(long[] s, int i) {
    return length(s, i) > maxSmall ? (int) s[i + RING] : (int) s[i + RING] & 0xffff;
  }

  private void ring(long[] s, int i, int first, int used) {
    s[i + RING] =
        length(s, i) > maxSmall
            ? (long) first << 32 | used
            : (s[i + RING] & ~LOW) | ((long) first << 16 | used);
  }

  /** Returns the place of a unit, counted in units from s[0]. */
  private int place(long[] s, int i, int unit) {
    int longs = length(s, i);
    int units = units(longs);
    int place = first(s, i) + unit;
    place -= place >= units ? units : 0;
    place = place >= units || place < 0 ? 0 : place; // Only while another thread changes it.
    return (i << unitsBits) + header(longs) + place;
  }

  private int shift(int place) {
    return (place & ((1 << unitsBits) - 1)) * unitBits;
  }

  final int unit(long[] s, int i, int unit) {
    int place = place(s, i, unit);
    return (int) ((s[place >> unitsBits] >>> shift(place)) & unitMask);
  }

  final void unit(long[] s, int i, int unit, int value) {
    int place = place(s, i, unit);
    int shift = shift(place);
    long others = s[place >> unitsBits] & ~(unitMask << shift);
    s[place >> unitsBits] = others | ((value & unitMask) << shift);
  }

  private static long total(long[] s, int i) {
    return s[i + COUNTS] >>> 32;
  }

  private static long newestPermits(long[] s, int i) {
    return s[i + COUNTS] & LOW;
  }

  /** Returns whether the state has no permits, not even expired ones. */
  final boolean isEmpty(long[] s, int i) {
    return newestPermits(s, i) == 0 && used(s, i) == 0;
  }

  /** Returns the earliest end of a granule that counts at an instant. */
  private long earliestEnd(long at) {
    return at - window + 1;
  }

  /** Returns the end of the granule of the newest entry. */
  private long newestEnd(long[] s, int i) {
    return end(s, i, instant(s[i + NEWEST]));
  }

  @Override
  long effectiveNanos(long[] s, int i, long now) {
    return effective(s[i + NEWEST], now);
  }

  private long counted(long[] s, int i, long at) {
    long cut = earliestEnd(at);
    if (newestCounts(s, i) < cut) {
      return 0;
    }
    long counted = total(s, i);
    long end = oldestEnd(s, i);
    int used = used(s, i);
    for (int unit = 0; unit < used && end < cut; ) {
      int head = unit(s, i, unit);
      counted -= permits(s, i, unit, head);
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    return counted;
  }

  @Override
  long fitNanos(long[] s, int i, long now, long permits, Policy policy) {
    long at = Math.max(now, instant(s[i + NEWEST]));
    long cut = earliestEnd(at);
    long newest = newestCounts(s, i);
    if (newest < cut) {
      return at - now;
    }
    long over = total(s, i) + permits - policy.quota().permits();
    long end = oldestEnd(s, i);
    int used = used(s, i);
    int unit = 0;
    while (unit < used && end < cut) {
      int head = unit(s, i, unit);
      over -= permits(s, i, unit, head);
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    if (over <= 0) {
      return at - now;
    }
    while (unit < used) {
      int head = unit(s, i, unit);
      over -= permits(s, i, unit, head);
      if (over <= 0) {
        return end + window - now;
      }
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    return newest + window - now;
  }

  @Override
  long[] charge(
      long[] s, int i, long now, long wait, long permits, Policy policy, boolean mayGrow) {
    trim(s, i, earliestEnd(now));
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
    trim(s, i, earliestEnd(now));
    // Everything that counts is kept, however small this limit is: a larger one may follow.
    long limit = policy.quota().permits();
    long[] room = used(s, i) < 2 * Math.max(Policy.LOG_LIMIT, limit) ? s : thinned(s, i);
    return append(room, room == s ? i : 0, at, permits, at > now, limit, mayGrow);
  }

  /** Drops the entries whose granules end before an instant. */
  private void trim(long[] s, int i, long cut) {
    if (oldestEnd(s, i) >= cut && used(s, i) > 0) {
      return; // The newest entry may expire before its granule ends, but not before those ahead.
    }
    if (newestCounts(s, i) < cut) {
      ring(s, i, 0, 0);
      s[i + COUNTS] = 0;
      return;
    }
    long end = oldestEnd(s, i);
    long gone = 0;
    int used = used(s, i);
    int unit = 0;
    while (unit < used && end < cut) {
      int head = unit(s, i, unit);
      gone += permits(s, i, unit, head);
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    oldestEnd(s, i, end);
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
    long before = newestPermits(s, i);
    int used = used(s, i);
    boolean empty = isEmpty(s, i);
    long nanos = empty ? 0 : end(s, i, at) - newestEnd(s, i);
    long distance = granule == 1 ? nanos : nanos / granule;
    int need =
        distance == 0 ? 0 : before == 0 ? lengthening(s, i, distance) : width(before, distance);
    if (used + need > units(s, i)) {
      long[] grown = mayGrow ? grown(s, i, used + need, limit) : s;
      long[] roomy = grown == s ? thinned(s, i) : grown;
      return used(roomy, 0) + need > units(roomy, 0)
          ? collapsed(s, i, at, total, reserved)
          : append(roomy, 0, at, permits, reserved, limit, false);
    }
    if (empty) {
      oldestEnd(s, i, end(s, i, at));
    } else if (distance == 0) {
      // The newest entry takes them.
    } else if (before == 0) {
      lengthen(s, i, distance);
    } else {
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
    s[i + COUNTS] = 0;
    oldestEnd(s, i, end(s, i, at));
    s[i + NEWEST] = stamp(at, reserved);
    s[i + COUNTS] = total << 32 | total;
    return s;
  }

  private void push(long[] s, int i, long permits, long distance) {
    int used = used(s, i);
    ring(s, i, first(s, i), used + width(permits, distance));
    write(s, i, used, permits, distance);
  }

  /** Moves the newest entry, whose permits are all gone, away from the one before it. */
  private void lengthen(long[] s, int i, long byGranules) {
    int last = last(s, i);
    int head = unit(s, i, last);
    long permits = permits(s, i, last, head);
    long distance = distance(s, i, last, head);
    ring(s, i, first(s, i), last);
    push(s, i, permits, distance + byGranules);
  }

  /** Returns how many units more the last entry of the ring takes once it is lengthened. */
  private int lengthening(long[] s, int i, long byGranules) {
    int last = last(s, i);
    int head = unit(s, i, last);
    long longer = distance(s, i, last, head) + byGranules;
    return width(permits(s, i, last, head), longer) - width(head);
  }

  /** Returns the first unit of the last entry of the ring. */
  private int last(long[] s, int i) {
    int last = 0;
    int used = used(s, i);
    for (int unit = 0; unit < used; unit += width(unit(s, i, unit))) {
      last = unit;
    }
    return last;
  }

  /**
   * Returns a copy with room for {@code units} units; the state itself if it may not be that large.
   */
  private long[] grown(long[] s, int i, int units, long limit) {
    int exact = Math.min(maxLongs, longs(Math.min(limit, cells) - 1));
    int longs = length(s, i);
    do {
      int larger = longs < exact ? Math.min(2 * longs - 2, exact) : longs + further(longs);
      longs =
          Math.min(
              maxLongs,
              Slab.fitting(larger)); // So that what fits does not depend on earlier sizes.
    } while (longs < maxLongs && units(longs) < units);
    if (units(longs) < units) {
      return s;
    }
    return copied(s, i, longs);
  }

  /** Returns a copy in which each {@link #THINNING} neighbours are merged into the latest. */
  private long[] thinned(long[] s, int i) {
    long[] thinned = blank(length(s, i));
    long end = oldestEnd(s, i);
    long merged = 0;
    int entries = 0;
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      merged += permits(s, i, unit, head);
      if (++entries % THINNING == 0) {
        thinned = append(thinned, 0, end, merged, false, 0, false);
        merged = 0;
      }
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    merged += newestPermits(s, i);
    if (merged > 0 || used > 0) {
      thinned = append(thinned, 0, end, Math.max(1, merged), false, 0, false);
      thinned[COUNTS] -= merged > 0 ? 0 : (1L << 32 | 1); // Its place counts, even without permits.
    }
    thinned[NEWEST] = s[i + NEWEST];
    return thinned;
  }

  @Override
  long refundable(
      long[] s, int i, long now, long permits, long at, long resetNanos, Policy policy) {
    long wanted = end(s, i, at);
    if (wanted < earliestEnd(now)) {
      return 0;
    }
    long end = oldestEnd(s, i);
    int used = used(s, i);
    for (int unit = 0; unit < used && end <= wanted; ) {
      int head = unit(s, i, unit);
      if (end == wanted) {
        return Math.min(permits, permits(s, i, unit, head));
      }
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    boolean newest = wanted == newestEnd(s, i) && newestCounts(s, i) >= earliestEnd(now);
    return newest ? Math.min(permits, newestPermits(s, i)) : 0;
  }

  @Override
  long[] refund(long[] s, int i, long now, long permits, long at, Policy policy) {
    long wanted = end(s, i, at);
    boolean newest = wanted == newestEnd(s, i);
    boolean cancelled = newest && permits == newestPermits(s, i) && instant(s[i + NEWEST]) > now;
    if (newest && !cancelled) {
      s[i + COUNTS] -= permits << 32 | permits;
      return s;
    }
    long limit = policy.quota().permits();
    long[] t = blank(length(s, i));
    long end = oldestEnd(s, i);
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      long kept = permits(s, i, unit, head) - (end == wanted ? permits : 0);
      t = kept > 0 ? append(t, 0, end, kept, false, limit, true) : t;
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    if (!cancelled) {
      t = newestPermits(s, i) > 0 ? append(t, 0, end, newestPermits(s, i), false, limit, true) : t;
      return timed(t, s[i + NEWEST], limit);
    }
    // Later requests no longer queue behind the cancelled entry, but behind the one before it.
    long kept = t[NEWEST];
    long keptCounts = newestCounts(t, 0);
    t[NEWEST] = stamp(now, false);
    boolean reserved = keptCounts > newestCounts(t, 0); // It must count no less than it did.
    t[NEWEST] = kept;
    return timed(t, reserved ? stamp(instant(t[NEWEST]), true) : stamp(now, false), limit);
  }

  @Override
  long newestChargeNanos(long[] s, int i, long now) {
    if (newestPermits(s, i) > 0) {
      return instant(s[i + NEWEST]);
    }
    long newest = LONG_AGO;
    long end = oldestEnd(s, i);
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      newest = end;
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    return newest;
  }

  /** Returns the state with its time set, by an entry without permits if necessary. */
  private long[] timed(long[] s, long stamp, long limit) {
    long[] t = s;
    if (end(s, 0, instant(stamp)) > newestEnd(s, 0)) {
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
    return newestCounts(s, i) + window;
  }

  /**
   * Returns the same words for equal states, whatever arrays the entries have been through, and
   * wherever in them they begin.
   */
  @Override
  long[] compact(long[] s) {
    int used = used(s, 0);
    int longs = Math.max(4, longs(used));
    return copied(s, 0, units(longs) < used ? longs + 1 : longs);
  }

  @Override
  long[] copy(long[] s, int i) {
    return Arrays.copyOfRange(s, i, i + length(s, i));
  }

  @Override
  long[] fitted(long[] s) {
    if (s.length > maxLongs) { // Of another part.
      return copied(thinned(s, 0), 0, maxLongs);
    }
    int longs = Slab.fitting(s.length);
    return longs == s.length ? s : copied(s, 0, longs);
  }

  /** Returns a copy of another length, whose ring begins with its first unit. */
  private long[] copied(long[] s, int i, int longs) {
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
    long cut = earliestEnd(now);
    long end = oldestEnd(s, i);
    int used = used(s, i);
    for (int unit = 0; unit < used; ) {
      int head = unit(s, i, unit);
      if (end >= cut) {
        sink.charged(Math.min(end, instant(s[i + NEWEST])), permits(s, i, unit, head));
      }
      end += distance(s, i, unit, head) * granule;
      unit += width(head);
    }
    if (newestCounts(s, i) >= cut && newestPermits(s, i) > 0) {
      sink.charged(instant(s[i + NEWEST]), newestPermits(s, i));
    }
  }
}
