package dev.weir.server.internal.deciding;

import java.util.Arrays;

/**
 * Bytes, mostly ASCII text, that are put together in an array. The array is used again. For one
 * event loop.
 */
public final class ByteText {
  /** The most digits of a number, with its sign. */
  private static final int MAX_DIGITS = 20;

  private byte[] bytes = new byte[512];
  private int size;

  public ByteText clear() {
    size = 0;
    return this;
  }

  public int size() {
    return size;
  }

  /** Removes the bytes that were added since the text had that size. */
  public void cut(int newSize) {
    size = newSize;
  }

  /** Returns the array; the text is in its first {@link #size} bytes. */
  public byte[] bytes() {
    return bytes;
  }

  public ByteText add(byte[] text) {
    return add(text, text.length);
  }

  public ByteText add(CharSequence text) {
    room(text.length());
    for (int i = 0; i < text.length(); i++) {
      bytes[size++] = (byte) text.charAt(i);
    }
    return this;
  }

  public ByteText add(ByteText text) {
    return add(text.bytes, text.size);
  }

  private ByteText add(byte[] text, int length) {
    room(length);
    System.arraycopy(text, 0, bytes, size, length);
    size += length;
    return this;
  }

  /**
   * Adds a number in decimal digits.
   *
   * @param number at least 0
   */
  public ByteText add(long number) {
    room(MAX_DIGITS);
    int digits = 1;
    for (long rest = number / 10; rest > 0; rest /= 10) {
      digits++;
    }
    size += digits;
    long rest = number;
    for (int at = size - 1; at >= size - digits; at--) {
      bytes[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return this;
  }

  /** Adds the lowest eight bits of a number. */
  public ByteText octet(int value) {
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  private void room(int more) {
    if (size + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }
}
