package dev.weir.config.internal.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/** Checks of values, with error messages that contain the value and what was expected. */
public final class Check {
  private static final int MAX_SHOWN = 80;

  private Check() {}

  public static IllegalArgumentException wrong(String name, Object value, String expected) {
    return new IllegalArgumentException(
        name + ": " + shown(value) + " (expected: " + expected + ")");
  }

  /** Returns a value as messages show it: shortened, on one line. */
  public static String shown(@Nullable Object value) {
    String shown = String.valueOf(value);
    if (shown.length() > MAX_SHOWN) {
      shown = shown.substring(0, MAX_SHOWN) + "...";
    }
    return printable(shown);
  }

  public static boolean isUnicode(String value) {
    return bytes(value) >= 0;
  }

  public static long range(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw wrong(name, value, least + ".." + most);
    }
    return value;
  }

  /** Returns the text if its length in UTF-8 is within the bounds. */
  public static String text(String name, String value, int least, int most) {
    int bytes = bytes(value);
    if (bytes < 0) {
      throw wrong(name, "half a surrogate pair", "Unicode");
    }
    if (bytes < least || bytes > most) {
      throw wrong(name, bytes + " bytes", least + ".." + most + " bytes in UTF-8");
    }
    return value;
  }

  /** Returns the text if {@link #text} accepts it and it has no control characters. */
  public static String line(String name, String value, int least, int most) {
    text(name, value, least, most);
    if (value.chars().anyMatch(Character::isISOControl)) {
      throw wrong(name, value, "no control characters");
    }
    return value;
  }

  /** Returns the length in UTF-8, or -1 if the text is not Unicode. */
  private static int bytes(String value) {
    try {
      return UTF_8.newEncoder().encode(CharBuffer.wrap(value)).remaining();
    } catch (CharacterCodingException e) {
      return -1;
    }
  }

  /** Returns a text on one line, cut to at most so many bytes in UTF-8. */
  public static String shortened(String text, int most) {
    String line = printable(new String(text.getBytes(UTF_8), UTF_8)); // Removes half characters.
    int end = Math.min(line.length(), most);
    while (bytes(line.substring(0, end)) < 0 || bytes(line.substring(0, end)) > most) {
      end--;
    }
    return line.substring(0, end);
  }

  private static String printable(String text) {
    StringBuilder line = new StringBuilder(text.length());
    text.codePoints()
        .forEach(each -> line.appendCodePoint(Character.isISOControl(each) ? '?' : each));
    return line.toString();
  }
}
