package dev.weir.identity;

/** Checks of names of header fields, which are tokens (RFC 9110 5.6.2). */
final class HeaderNames {
  private static final int MAX_LENGTH = 128;
  private static final String TOKEN = "!#$%&'*+-.^_`|~";

  private HeaderNames() {}

  static boolean valid(String name) {
    return !name.isEmpty() && name.length() <= MAX_LENGTH && token(name, 0, name.length(), "");
  }

  /** Returns whether the text is a token, with some more characters allowed. */
  static boolean token(CharSequence text, int from, int to, String more) {
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      boolean word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (!word && TOKEN.indexOf(c) < 0 && more.indexOf(c) < 0) {
        return false;
      }
    }
    return from < to;
  }
}
