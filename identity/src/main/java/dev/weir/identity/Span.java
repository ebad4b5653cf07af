package dev.weir.identity;

/**
 * Searches in a part of a text, which never go beyond it: the cost of a long header stays linear.
 */
final class Span {
  private Span() {}

  /** Returns the character's first place in the part, or {@code to}. */
  static int find(CharSequence text, char c, int from, int to) {
    int at = from;
    while (at < to && text.charAt(at) != c) {
      at++;
    }
    return at;
  }

  /** Returns the character's last place in the part, or {@code from - 1}. */
  static int findLast(CharSequence text, char c, int from, int to) {
    int at = to - 1;
    while (at >= from && text.charAt(at) != c) {
      at--;
    }
    return at;
  }

  /** Returns the first place that is not white space, which is SP and HTAB, or {@code to}. */
  static int skip(CharSequence text, int from, int to) {
    int at = from;
    while (at < to && white(text.charAt(at))) {
      at++;
    }
    return at;
  }

  /** Returns the place behind the last character that is not white space, or {@code from}. */
  static int skipBack(CharSequence text, int from, int to) {
    int at = to;
    while (at > from && white(text.charAt(at - 1))) {
      at--;
    }
    return at;
  }

  private static boolean white(char c) {
    return c == ' ' || c == '\t';
  }
}
