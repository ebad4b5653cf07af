package dev.weir;

/**
 * A log of a few bytes: the sliding window of small limits, in which a permit comes back at most a
 * {@value Shape#LEAST_GRANULES}th of the window late.
 */
final class CompactLog extends SlidingLog {
  /*
   * How are entries coded, and why? A window has 5,000 to 12,500 granules. If 100 permits are
   * charged evenly, their distances are 50 to 125 granules, and if they come by chance, 83 to 99 %
   * are at most 224. So an entry of one permit and up to 224 granules is one byte, its distance less one. A byte from 224 on is followed by further
   * ones, the lowest first:
   *
   *   224 + 4 d + p    BYTES[d] bytes of the distance less one, then PERMITS[p] bytes of the permits,
   *                    which are one if there are none
   *
   * s[1] is the end of the oldest granule, in nanoseconds. The granules of a key begin with the
   * first charge of a state that counts nothing, so that what is charged at once comes back at
   * once: three requests of three a minute are refused for 60 s, not for 60 s and a granule, which
   * a header would round to 61. For the same reason the newest entry counts from its own instant
   * until it goes into the ring.
   */

  private static final int UNITS_BITS = 3;

  /** The first byte that further ones follow. */
  private static final int LONGER = 224;

  private static final int[] BYTES = {0, 1, 2, 3, 4, 5, 6, 8};
  private static final int[] PERMITS = {0, 1, 2, 4};

  CompactLog(long windowNanos, long granuleNanos, int part) {
    super(windowNanos, granuleNanos, UNITS_BITS, part);
  }

  private static int distanceBytes(int head) {
    return BYTES[(head - LONGER) >> 2];
  }

  private static int permitsBytes(int head) {
    return PERMITS[head & 3];
  }

  @Override
  int width(int head) {
    return head < LONGER ? 1 : 1 + distanceBytes(head) + permitsBytes(head);
  }

  @Override
  long permits(long[] s, int i, int unit, int head) {
    return head < LONGER || permitsBytes(head) == 0
        ? 1
        : number(s, i, unit + 1 + distanceBytes(head), permitsBytes(head));
  }

  @Override
  long distance(long[] s, int i, int unit, int head) {
    return 1 + (head < LONGER ? head : number(s, i, unit + 1, distanceBytes(head)));
  }

  private long number(long[] s, int i, int unit, int bytes) {
    long number = 0;
    for (int j = 0; j < bytes; j++) {
      number |= (long) unit(s, i, unit + j) << (j << 3);
    }
    return number;
  }

  private static boolean isShort(long permits, long distance) {
    return permits == 1 && distance <= LONGER;
  }

  @Override
  int width(long permits, long distance) {
    return isShort(permits, distance) ? 1 : width(head(permits, distance));
  }

  private static int head(long permits, long distance) {
    return LONGER
        + (index(BYTES, distance - 1) << 2)
        + (permits == 1 ? 0 : index(PERMITS, permits));
  }

  /** Returns the index of the first length that has room for a number. */
  private static int index(int[] lengths, long number) {
    int bits = 64 - Long.numberOfLeadingZeros(number);
    int index = 0;
    while (lengths[index] << 3 < bits) {
      index++;
    }
    return index;
  }

  @Override
  void write(long[] s, int i, int unit, long permits, long distance) {
    if (isShort(permits, distance)) {
      unit(s, i, unit, (int) distance - 1);
      return;
    }
    int head = head(permits, distance);
    unit(s, i, unit, head);
    write(s, i, unit + 1, distanceBytes(head), distance - 1);
    write(s, i, unit + 1 + distanceBytes(head), permitsBytes(head), permits);
  }

  private void write(long[] s, int i, int unit, int bytes, long number) {
    for (int j = 0; j < bytes; j++) {
      unit(s, i, unit + j, (int) (number >>> (j << 3)));
    }
  }

  @Override
  int further(int longs) {
    return 1 + longs / 16;
  }

  @Override
  long oldestEnd(long[] s, int i) {
    return s[i + OLDEST];
  }

  @Override
  void oldestEnd(long[] s, int i, long end) {
    s[i + OLDEST] = end;
  }

  @Override
  long end(long[] s, int i, long at) {
    return isEmpty(s, i) ? at : at + Math.floorMod(s[i + OLDEST] - at, granule);
  }

  @Override
  long newestCounts(long[] s, int i) {
    return instant(s[i + NEWEST]);
  }

  @Override
  void shift(long[] s, int i, long known, long now) {
    s[i + OLDEST] += now - known;
    s[i + NEWEST] = stamp(instant(s[i + NEWEST]) + now - known, reserved(s[i + NEWEST]));
  }
}
