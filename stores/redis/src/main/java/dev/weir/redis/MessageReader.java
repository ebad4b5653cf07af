package dev.weir.redis;

/** A reader of an array of numbers in MessagePack. [MessagePack specification] */
final class MessageReader {
  private final byte[] bytes;
  private int at;
  private long left;

  /**
   * Creates a reader.
   *
   * @throws IllegalArgumentException if the bytes are not an array
   */
  MessageReader(byte[] bytes) {
    this.bytes = bytes;
    int mark = next();
    if ((mark & 0xf0) == 0x90) {
      left = mark & 0xf;
    } else if (mark == 0xdc || mark == 0xdd) {
      left = unsigned(mark == 0xdc ? Short.BYTES : Integer.BYTES);
    } else {
      throw unexpected(mark, "an array");
    }
  }

  /** Returns the count of numbers that are still to be read. */
  long left() {
    return left;
  }

  /**
   * Returns the next number.
   *
   * @throws IllegalArgumentException if there is none
   */
  long number() {
    if (left-- <= 0) {
      throw new IllegalArgumentException("reply: ends early (expected: another number)");
    }
    int mark = next();
    if (mark < 0x80 || mark >= 0xe0) {
      return (byte) mark;
    }
    return switch (mark) {
      case 0xcc -> unsigned(Byte.BYTES);
      case 0xcd -> unsigned(Short.BYTES);
      case 0xce -> unsigned(Integer.BYTES);
      case 0xcf, 0xd3 -> unsigned(Long.BYTES);
      case 0xd0 -> (byte) unsigned(Byte.BYTES);
      case 0xd1 -> (short) unsigned(Short.BYTES);
      case 0xd2 -> (int) unsigned(Integer.BYTES);
      default -> throw unexpected(mark, "a number");
    };
  }

  private long unsigned(int length) {
    long value = 0;
    for (int i = 0; i < length; i++) {
      value = value << Byte.SIZE | next();
    }
    return value;
  }

  private int next() {
    if (at == bytes.length) {
      throw new IllegalArgumentException("reply: " + at + " bytes (expected: more)");
    }
    return bytes[at++] & 0xff;
  }

  private IllegalArgumentException unexpected(int mark, String expected) {
    return new IllegalArgumentException(
        "reply: 0x"
            + Integer.toHexString(mark)
            + " at byte "
            + (at - 1)
            + " (expected: "
            + expected
            + ")");
  }
}
