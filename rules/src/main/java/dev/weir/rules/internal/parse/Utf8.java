package dev.weir.rules.internal.parse;

import dev.weir.rules.Position;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/** A decoder that turns bytes into text, and reports the position of an error. */
public final class Utf8 {
  /**
   * The most characters of a line. The YAML scanner's time grows with the square of a token's
   * length, and a token cannot be much longer than the longest line.
   */
  public static final int MAX_LINE = 1 << 16;

  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private Utf8() {}

  /** Returns the text, or null after reporting the first byte or character that is not allowed. */
  public static @Nullable String decode(String file, byte[] content, Problems problems) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(content);
    CharBuffer out = CharBuffer.allocate(content.length);
    CoderResult result = decoder.decode(in, out, true);
    String text = out.flip().toString();
    if (result.isError()) {
      problems.error(
          position(file, text, text.length()),
          "byte: 0x%02X (expected: UTF-8)".formatted(content[in.position()]));
      return null;
    }
    if (!text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK) {
      text = text.substring(1);
    }
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      if (!StreamReader.isPrintable(c)) {
        problems.error(
            position(file, text, i), "character: U+%04X (expected: printable ones)".formatted(c));
        return null;
      }
    }
    return checkLines(file, text, problems) ? text : null;
  }

  private static boolean checkLines(String file, String text, Problems problems) {
    int start = 0;
    for (int i = 0; i <= text.length(); i++) {
      if (i == text.length() || text.charAt(i) == '\n' || text.charAt(i) == '\r') {
        start = i + 1;
      } else if (i - start >= MAX_LINE) {
        problems.error(
            position(file, text, i),
            "line: longer (expected: at most " + MAX_LINE + " characters)");
        return false;
      }
    }
    return true;
  }

  private static Position position(String file, String text, int end) {
    int line = 1;
    int lineStart = 0;
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      boolean pair = c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n';
      if (c == '\n' || (c == '\r' && !pair)) {
        line++;
        lineStart = i + 1;
      }
    }
    return new Position(file, line, text.codePointCount(lineStart, end) + 1);
  }
}
