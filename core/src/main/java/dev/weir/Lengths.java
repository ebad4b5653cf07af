package dev.weir;

/**
 * The lengths of the states of a key that lie side by side, in longs: up to three parts, packed
 * into one long.
 */
final class Lengths {
  /*
   * The first part has 22 bits, so that a state alone may have MAX_LONGS longs; each further one
   * has 21. A part that is not there has length 0.
   */

  /** The most parts. */
  static final int MOST_PARTS = 3;

  /** The most longs of a part after the first, a length that {@linkplain Slab#fitting fits}. */
  static final int MOST_LATER = (1 << 21) - (1 << 15);

  private static final int FIRST_BITS = 22;
  private static final int LATER_BITS = 21;
  private static final long FIRST = (1L << FIRST_BITS) - 1;
  private static final long LATER = (1L << LATER_BITS) - 1;

  private Lengths() {}

  /** Returns how many low bits are those of the parts before a part. */
  private static int shift(int part) {
    return part == 0 ? 0 : FIRST_BITS + LATER_BITS * (part - 1);
  }

  /** Returns the bits of a part's length, where the lowest of them is bit 0. */
  private static long mask(int part) {
    return part == 0 ? FIRST : LATER;
  }

  /** Returns the length of the first part. */
  static int first(long lengths) {
    return (int) lengths & (int) FIRST;
  }

  /** Returns the length of a part. */
  static int of(long lengths, int part) {
    return (int) (lengths >>> shift(part) & mask(part));
  }

  /**
   * Returns the length of a state that varies: all of its array, or that of a part, given by the
   * first word of the page.
   *
   * @param i where the state begins, 0 if it has an array of its own
   */
  static int of(long[] s, int i, int part) {
    if (i == 0) {
      return s.length;
    }
    return part == 0 ? first(s[0]) : of(s[0], part);
  }

  /** Returns how many longs the parts before a part take. */
  static int start(long lengths, int part) {
    int start = 0;
    for (int before = 0; before < part; before++) {
      start += of(lengths, before);
    }
    return start;
  }

  /** Returns the length of all parts together. */
  static int total(long lengths) {
    long second = lengths >>> FIRST_BITS & LATER;
    return (int) ((lengths & FIRST) + second + (lengths >>> (FIRST_BITS + LATER_BITS)));
  }

  /** Returns the lengths with another one for a part. */
  static long with(long lengths, int part, int longs) {
    long mask = mask(part) << shift(part);
    return (lengths & ~mask) | (long) longs << shift(part);
  }

  /** Returns a copy of side-by-side states from an offset on, with another state as a part. */
  static long[] replaced(long[] s, int i, long lengths, int part, long[] by) {
    int start = start(lengths, part);
    int rest = start + of(lengths, part);
    int behind = total(lengths) - rest;
    long[] t = new long[start + by.length + behind];
    System.arraycopy(s, i, t, 0, start);
    System.arraycopy(by, 0, t, start, by.length);
    System.arraycopy(s, i + rest, t, start + by.length, behind);
    return t;
  }
}
