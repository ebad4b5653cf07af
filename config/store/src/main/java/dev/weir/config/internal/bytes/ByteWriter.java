package dev.weir.config.internal.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.internal.Varint;
import java.io.ByteArrayOutputStream;

/** A writer of whole numbers in as few bytes as they need, seven bits in each, the lowest first. */
public final class ByteWriter {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(32);

  public ByteWriter number(long value) {
    byte[] number = new byte[Varint.MAX_BYTES];
    bytes.write(number, 0, Varint.put(number, 0, value));
    return this;
  }

  public ByteWriter text(String value) {
    byte[] utf8 = value.getBytes(UTF_8);
    number(utf8.length);
    bytes.write(utf8, 0, utf8.length);
    return this;
  }

  public byte[] toBytes() {
    return bytes.toByteArray();
  }
}
