package dev.weir.internal;

/**
 * A reader of numbers that {@link Varint} wrote one after the other. Not safe for use by several
 * threads.
 */
public final class VarintReader {
  private final byte[] bytes;
  private final int to;
  private final String subject;
  private int at;

  /**
   * Creates a reader of the bytes from {@code from} to before {@code to}.
   *
   * @param subject the name of what the bytes are, with which messages begin
   */
  public VarintReader(byte[] bytes, int from, int to, String subject) {
    this.subject = subject;
    this.bytes = bytes;
    this.at = from;
    this.to = to;
  }

  /** Returns the index of the next byte. */
  public int position() {
    return at;
  }

  /** Returns whether all bytes were read. */
  public boolean atEnd() {
    return at >= to;
  }

  /**
   * Reads a number, even if it has more bytes than it needs.
   *
   * @throws IllegalArgumentException if the bytes end before it does, or it has more than {@value
   *     Varint#MAX_BYTES}
   */
  public long next() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      if (at >= to) {
        throw new IllegalArgumentException(subject + ": cut off (expected: more bytes)");
      }
      byte next = bytes[at++];
      value |= (next & 0x7fL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        subject + ": a number of more than " + Varint.MAX_BYTES + " bytes (expected: fewer)");
  }
}
