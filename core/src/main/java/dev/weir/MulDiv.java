package dev.weir;

/** Exact products of counts and times, which can take more than 64 bits. */
final class MulDiv {
  /** The bits of a chunk: few enough that a partial product of a chunk and a window fits a long. */
  private static final int CHUNK_BITS = 7;

  private MulDiv() {}

  /**
   * Returns {@code a * b / c}, rounded down.
   *
   * @param a 0 to 2^41
   * @param b 0 to 2^55
   * @param c 1 to 2^55; the quotient must fit a long
   */
  static long floor(long a, long b, long c) {
    if (Math.multiplyHigh(a, b) == 0 && a * b >= 0) {
      return a * b / c;
    }
    return divide(a, b, c, 0);
  }

  /** Returns {@code a * b / c}, rounded up, for the ranges of {@link #floor}. */
  static long ceil(long a, long b, long c) {
    if (Math.multiplyHigh(a, b) == 0 && a * b >= 0) {
      long product = a * b;
      return product / c + (product % c == 0 ? 0 : 1);
    }
    return divide(a, b, c, 1);
  }

  /**
   * Divides by long division, {@value #CHUNK_BITS} bits of {@code a} at a time, the highest first.
   */
  private static long divide(long a, long b, long c, long roundUp) {
    long quotient = 0;
    long remainder = 0;
    for (int shift = 5 * CHUNK_BITS; shift >= 0; shift -= CHUNK_BITS) {
      long chunk = (a >>> shift) & ((1 << CHUNK_BITS) - 1);
      long partial = (remainder << CHUNK_BITS) + chunk * b;
      quotient = (quotient << CHUNK_BITS) + partial / c;
      remainder = partial % c;
    }
    return quotient + (remainder == 0 ? 0 : roundUp);
  }
}
