package dev.weir.cluster.internal.peer;

import dev.weir.internal.Varint;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** A writer of bytes for {@link ByteReader}. Not safe for use by several threads at once. */
public final class ByteWriter {
  private static final int FIRST_BYTES = 128;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int size;

  int size() {
    return size;
  }

  /** Returns a copy of the written bytes. */
  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
    }
  }

  public ByteWriter writeByte(int value) {
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  public ByteWriter writeLong(long value) {
    room(Long.BYTES);
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[size++] = (byte) (value >>> shift);
    }
    return this;
  }

  public ByteWriter writeId(UUID id) {
    return writeLong(id.getMostSignificantBits()).writeLong(id.getLeastSignificantBits());
  }

  /** Writes a number in as few bytes as it needs: one if it is small, ten at most. */
  public ByteWriter writeNumber(long value) {
    room(Varint.MAX_BYTES);
    // Small negative numbers are short too.
    size = Varint.put(bytes, size, (value << 1) ^ (value >> 63));
    return this;
  }

  public ByteWriter writeText(String text) {
    return writeBytes(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes bytes after their number. */
  public ByteWriter writeBytes(byte[] some) {
    writeNumber(some.length);
    return copy(some, 0, some.length);
  }

  /** Writes bytes as they are. */
  public ByteWriter copy(byte[] some, int from, int to) {
    room(to - from);
    System.arraycopy(some, from, bytes, size, to - from);
    size += to - from;
    return this;
  }
}
