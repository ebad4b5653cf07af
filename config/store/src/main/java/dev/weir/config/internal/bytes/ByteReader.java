package dev.weir.config.internal.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.internal.Varint;
import dev.weir.internal.VarintReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/**
 * A reader of what a {@link ByteWriter} has written. It accepts nothing else: each value has one
 * encoding.
 */
final class ByteReader {
  private final byte[] bytes;
  private VarintReader in;

  ByteReader(byte[] bytes) {
    this.bytes = bytes;
    in = new VarintReader(bytes, 0, bytes.length, "record");
  }

  boolean atEnd() {
    return in.atEnd();
  }

  long number() {
    int from = in.position();
    long value = in.next();
    if (value < 0 || in.position() - from != Varint.size(value)) { // It could have been shorter.
      throw new IllegalArgumentException("record: a number of no kind (expected: 63 bits)");
    }
    return value;
  }

  String text() {
    long length = number();
    int from = in.position();
    if (length > bytes.length - from) {
      throw new IllegalArgumentException("record: cut off (expected: more bytes)");
    }
    in = new VarintReader(bytes, from + (int) length, bytes.length, "record");
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, (int) length)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("record: a text that is not UTF-8 (expected: UTF-8)", e);
    }
  }
}
