package dev.weir.cli.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/** A reader of lines of UTF-8 that end with a line feed, of any number and of bounded length. */
final class LineInput {
  /**
   * The first character in place of a line that is not text, or is too long; the reason follows it.
   */
  static final char UNREADABLE = '\0';

  private final InputStream in;
  private long bytes;
  private long line;

  LineInput(InputStream in) {
    this.in = new BufferedInputStream(in, 1 << 16);
  }

  /**
   * Returns the next line without its end, or null if there are no more. The result for an
   * unreadable line begins with {@link #UNREADABLE}.
   */
  @Nullable String next() throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream(256);
    boolean tooLong = false;
    int each = in.read();
    if (each < 0) {
      return null;
    }
    line++;
    for (; each >= 0 && each != '\n'; each = in.read()) {
      bytes++;
      if (read.size() < ImportLines.MAX_LINE_BYTES) {
        read.write(each);
      } else {
        tooLong = true;
      }
    }
    bytes++;
    if (tooLong) {
      return UNREADABLE + "too long (expected: at most " + ImportLines.MAX_LINE_BYTES + " bytes)";
    }
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(read.toByteArray())).toString();
      String from = line == 1 && text.startsWith("\ufeff") ? text.substring(1) : text;
      return from.endsWith("\r") ? from.substring(0, from.length() - 1) : from;
    } catch (CharacterCodingException e) {
      return UNREADABLE + "no text (expected: UTF-8)";
    }
  }

  /** Returns the number of the line that was read last, counted from 1. */
  long line() {
    return line;
  }

  long bytes() {
    return bytes;
  }
}
