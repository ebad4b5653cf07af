package dev.weir.cluster.internal.peer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * A reader of the bytes that {@link ByteWriter} wrote. Whatever the bytes are, nothing is read
 * beyond their end: each method throws {@link IllegalArgumentException} instead. Not safe for use
 * by several threads at once.
 */
public final class ByteReader {
  private final byte[] bytes;
  private int at;

  public ByteReader(byte[] bytes, int from) {
    this.bytes = bytes;
    this.at = from;
    need(0);
  }

  private void need(int more) {
    if (more < 0 || at > bytes.length - more) {
      throw new IllegalArgumentException(
          "message: " + bytes.length + " bytes (expected: at least " + (at + (long) more) + ")");
    }
  }

  public int position() {
    return at;
  }

  public boolean atEnd() {
    return at == bytes.length;
  }

  public int readByte() {
    need(1);
    return bytes[at++] & 0xff;
  }

  public long readLong() {
    need(Long.BYTES);
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << Byte.SIZE) | (bytes[at++] & 0xff);
    }
    return value;
  }

  public long readNumber() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      long next = readByte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) {
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw new IllegalArgumentException("message: a number of over 10 bytes");
  }

  /** Reads a number that must be in that range. */
  public int readNumber(int least, int most) {
    long value = readNumber();
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "message: " + value + " (expected: " + least + ".." + most + ")");
    }
    return (int) value;
  }

  public UUID readId() {
    return new UUID(readLong(), readLong());
  }

  /** Reads the number of some elements, each of which takes at least a byte. */
  public int readCount() {
    long count = readNumber();
    if (count < 0 || count > bytes.length - at) {
      throw new IllegalArgumentException(
          "message: " + count + " of something (expected: 0.." + (bytes.length - at) + ")");
    }
    return (int) count;
  }

  public String readText() {
    return new String(readBytes(), StandardCharsets.UTF_8);
  }

  /** Reads bytes that follow their number. */
  public byte[] readBytes() {
    int count = readCount();
    at += count;
    return Arrays.copyOfRange(bytes, at - count, at);
  }
}
