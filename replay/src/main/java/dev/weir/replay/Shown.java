package dev.weir.replay;

import java.nio.charset.StandardCharsets;

/** Text from an input as people may see it: no control characters, and not too much of it. */
final class Shown {
  /** The most characters of a value that a message quotes: one line of a terminal. */
  static final int MAX_LENGTH = 60;

  private Shown() {}

  /** Returns the bytes as text in quotes, cut to {@value #MAX_LENGTH} characters. */
  static String quoted(byte[] data, int from, int to) {
    // Four bytes a character at most: nothing beyond them can be shown.
    int end = Math.min(to, from + 4 * MAX_LENGTH + 4);
    return quoted(new String(data, from, end - from, StandardCharsets.UTF_8));
  }

  static String quoted(String text) {
    return '"' + plain(cut(text, MAX_LENGTH)) + '"';
  }

  /** Returns the text with no more characters than that, and dots where there were more. */
  static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean half = Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, half ? most - 1 : most) + "...";
  }

  /** Returns the text with control characters, which could steer a terminal, written as escapes. */
  static String plain(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (steers(text.charAt(i))) {
        return escaped(text);
      }
    }
    return text;
  }

  private static String escaped(String text) {
    StringBuilder plain = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (steers(c)) {
        plain.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          plain.append(Character.forDigit((c >> shift) & 15, 16));
        }
      } else {
        plain.append(c);
      }
    }
    return plain.toString();
  }

  private static boolean steers(char c) {
    // Controls, and the marks that reorder text.
    return Character.isISOControl(c)
        || Character.getType(c) == Character.FORMAT
        || Character.getType(c) == Character.LINE_SEPARATOR
        || Character.getType(c) == Character.PARAGRAPH_SEPARATOR;
  }
}
