package dev.weir.rules;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Text from an input in a form that is safe to show: no control characters, and not too much of it.
 */
public final class ShownText {
  /** The most characters of a value that a message quotes: one line of a terminal. */
  public static final int MAX_LENGTH = 60;

  private static final int MAX_LISTED = 40;
  private static final int MAX_PARSER_LENGTH = 200;

  /** Jackson's notes on where a text began, and on its own settings. */
  private static final Pattern FOR_PROGRAMMERS =
      Pattern.compile(" ?\\(start marker at .*|, from `[^`]*`");

  private ShownText() {}

  /** Returns the bytes as text in quotes, cut to {@value #MAX_LENGTH} characters. */
  public static String quoted(byte[] data, int from, int to) {
    // Four bytes a character at most: nothing beyond them can be shown.
    int end = Math.min(to, from + 4 * MAX_LENGTH + 4);
    return quoted(new String(data, from, end - from, StandardCharsets.UTF_8));
  }

  /** Returns the text in quotes, cut to {@value #MAX_LENGTH} characters. */
  public static String quoted(String text) {
    return '"' + brief(text) + '"';
  }

  /** Returns the text without quotes, cut to {@value #MAX_LENGTH} characters. */
  public static String brief(String text) {
    return plain(cut(text, MAX_LENGTH));
  }

  /** Returns the text with at most {@code most} characters, and dots if there were more. */
  public static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean half = Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, half ? most - 1 : most) + "...";
  }

  /** Returns the text with control characters, which could steer a terminal, written as escapes. */
  public static String plain(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (steers(text.charAt(i))) {
        return escaped(text);
      }
    }
    return text;
  }

  /**
   * Returns the message of a JSON or CSV parser as an error shows it: its first line, without the
   * parts that are for those who program with the parser.
   */
  public static String ofParser(@Nullable String message) {
    String first = String.valueOf(message).lines().findFirst().orElse("unreadable");
    return plain(cut(FOR_PROGRAMMERS.matcher(first).replaceAll(""), MAX_PARSER_LENGTH));
  }

  /** Returns names for a message, at most a screen of them. */
  public static String listed(List<String> names) {
    StringBuilder text = new StringBuilder();
    int shown = Math.min(names.size(), MAX_LISTED);
    for (int i = 0; i < shown; i++) {
      String name = names.get(i);
      text.append(i == 0 ? "" : ", ")
          .append(plain(name.length() > MAX_LENGTH ? name.substring(0, MAX_LENGTH) : name));
    }
    return shown < names.size() ? text + ", ..." : text.toString();
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
