package dev.weir.config.internal.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/**
 * A reader of what a {@link ByteWriter} has written. It accepts nothing else: each value has one
 * encoding.
 */
final class ByteReader {
  private final byte[] bytes;
  private int offset;

  ByteReader(byte[] bytes) {
    this.bytes = bytes;
  }

  boolean atEnd() {
    return offset == bytes.length;
  }

  long number() {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (atEnd()) {
        throw new IllegalArgumentException("record: cut off (expected: more bytes)");
      }
      byte next = bytes[offset++];
      value |= (next & 0x7fL) << shift;
      if (next >= 0) {
        if (next == 0 && shift > 0) {
          break; // It could have been shorter.
        }
        return value;
      }
    }
    throw new IllegalArgumentException("record: a number of no kind (expected: 63 bits)");
  }

  String text() {
    long length = number();
    if (length > bytes.length - offset) {
      throw new IllegalArgumentException("record: cut off (expected: more bytes)");
    }
    ByteBuffer utf8 = ByteBuffer.wrap(bytes, offset, (int) length);
    offset += (int) length;
    try {
      return UTF_8.newDecoder().decode(utf8).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("record: a text that is not UTF-8 (expected: UTF-8)", e);
    }
  }
}
