package dev.weir.internal;

/**
 * Numbers in as few bytes as they need: seven bits in each, the lowest first, and a mark in all but
 * the last. A number is read as 64 bits without a sign, so a negative one takes all ten bytes.
 */
public final class Varint {
  /** The most bytes of a number. */
  public static final int MAX_BYTES = 10;

  private Varint() {}

  /** Returns the number of bytes that a value takes, 1 to {@value #MAX_BYTES}. */
  public static int size(long value) {
    return Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7);
  }

  /**
   * Writes a value at an index, and returns the index after it.
   *
   * @throws ArrayIndexOutOfBoundsException if there is no room for it
   */
  public static int put(byte[] to, int at, long value) {
    int next = at;
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      to[next++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    to[next++] = (byte) rest;
    return next;
  }
}
