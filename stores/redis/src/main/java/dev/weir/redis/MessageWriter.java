package dev.weir.redis;

import java.util.Arrays;

/** A writer of numbers as MessagePack. [MessagePack specification, int format family] */
final class MessageWriter {
  private static final int FIRST_BYTES = 256;

  /** The header of an array of at most 2^32 - 1 elements: its mark and their number. */
  private static final int HEADER_BYTES = 5;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int size = HEADER_BYTES;
  private int numbers;

  /** Adds a number. */
  MessageWriter add(long number) {
    if (size + 1 + Long.BYTES > bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * bytes.length);
    }
    numbers++;
    if (number >= -32 && number < 128) {
      bytes[size++] = (byte) number;
    } else if (number >= 0 && number < 1L << 16) {
      bytes[size++] = (byte) 0xcd;
      put(number, Short.BYTES);
    } else if (number >= 0 && number < 1L << 32) {
      bytes[size++] = (byte) 0xce;
      put(number, Integer.BYTES);
    } else {
      bytes[size++] = (byte) 0xd3;
      put(number, Long.BYTES);
    }
    return this;
  }

  private void put(long number, int length) {
    for (int shift = (length - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes[size++] = (byte) (number >>> shift);
    }
  }

  /** Adds the numbers of another writer. */
  MessageWriter addAll(MessageWriter other) {
    int added = other.size - HEADER_BYTES;
    if (size + added > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + added));
    }
    System.arraycopy(other.bytes, HEADER_BYTES, bytes, size, added);
    size += added;
    numbers += other.numbers;
    return this;
  }

  /** Returns all numbers as one array. */
  byte[] toBytes() {
    int end = size;
    size = 0;
    bytes[size++] = (byte) 0xdd;
    put(numbers, Integer.BYTES);
    size = end;
    return Arrays.copyOf(bytes, end);
  }
}
