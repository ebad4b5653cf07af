package dev.weir;

/**
 * A log whose granules lie at multiples of their length: the exact sliding window, with granules of
 * one nanosecond, and sliding-window buckets.
 */
final class AlignedLog extends SlidingLog {
  /*
   * How are entries coded? An entry is packed into 32 bits: its permits and the distance to the
   * next entry. The few keys that need more, those with long pauses or many permits, take 96. So an
   * exact log of 100 entries takes 424 bytes. s[1] is the number of the oldest granule.
   */

  private static final int UNITS_BITS = 1;

  /** The mark of the first of the three units of a wide entry. */
  private static final int WIDE = 1 << 31;

  private static final int WIDE_UNITS = 3;

  /**
   * The number of low bits of a narrow entry's unit that are the distance; the permits are above
   * them.
   */
  private final int distanceBits;

  private final int distanceMask;

  AlignedLog(long windowNanos, long granuleNanos, int part) {
    super(windowNanos, granuleNanos, UNITS_BITS, part);
    this.distanceBits = Math.min(31, 64 - Long.numberOfLeadingZeros(cells));
    this.distanceMask = (int) ((1L << distanceBits) - 1);
  }

  @Override
  int width(int head) {
    return head < 0 ? WIDE_UNITS : 1;
  }

  @Override
  long permits(long[] s, int i, int unit, int head) {
    return head < 0 ? unit(s, i, unit + 2) & LOW : (head >>> distanceBits) + 1;
  }

  @Override
  long distance(long[] s, int i, int unit, int head) {
    return head < 0
        ? (long) (head & ~WIDE) << 32 | (unit(s, i, unit + 1) & LOW)
        : head & distanceMask;
  }

  @Override
  int width(long permits, long distance) {
    return isNarrow(permits, distance) ? 1 : WIDE_UNITS;
  }

  private boolean isNarrow(long permits, long distance) {
    return distance <= distanceMask
        && permits > 0
        && permits - 1 <= Integer.MAX_VALUE >>> distanceBits;
  }

  @Override
  void write(long[] s, int i, int unit, long permits, long distance) {
    if (isNarrow(permits, distance)) {
      unit(s, i, unit, (int) (permits - 1) << distanceBits | (int) distance);
    } else {
      unit(s, i, unit, WIDE | (int) (distance >>> 32));
      unit(s, i, unit + 1, (int) distance);
      unit(s, i, unit + 2, (int) permits);
    }
  }

  @Override
  int further(int longs) {
    return longs / 4 + 2;
  }

  @Override
  long oldestEnd(long[] s, int i) {
    return s[i + OLDEST] * granule + (granule - 1);
  }

  @Override
  void oldestEnd(long[] s, int i, long end) {
    s[i + OLDEST] = number(end);
  }

  private long number(long at) {
    return granule == 1 ? at : Math.floorDiv(at, granule);
  }

  @Override
  long end(long[] s, int i, long at) {
    return number(at) * granule + (granule - 1);
  }

  @Override
  long newestCounts(long[] s, int i) {
    return end(s, i, instant(s[i + NEWEST]));
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    long granules = -Math.floorDiv(known - now, granule); // Rounded up: later is longer.
    s[i + OLDEST] += granules;
    s[i + NEWEST] = stamp(instant(s[i + NEWEST]) + granules * granule, reserved(s[i + NEWEST]));
  }
}
