package dev.weir.identity;

/** Checks of text that may be in a key. */
final class PlainText {
  /** The longest value that is used unchanged as a key: as long as a value in a rule may be. */
  static final int MAX_LENGTH = 1_024;

  private static final String HASHED = "sha256:";

  private PlainText() {}

  /**
   * Returns the value unchanged if it can be shown and is not too long, else {@code sha256:} and a
   * hash of it. Two values never become the same: none is cut, and one that looks like a hash is
   * hashed.
   */
  static String key(String value) {
    boolean plain = value.length() <= MAX_LENGTH && !value.startsWith(HASHED) && showable(value);
    return plain ? value : HASHED + SecretHash.plain().of(value);
  }

  /** Returns a text that consists of such values, or a hash of it if it is too long. */
  static String bounded(String text) {
    return text.length() <= MAX_LENGTH ? text : HASHED + SecretHash.plain().of(text);
  }

  /** Returns whether the character could control a terminal or hide in a log. */
  static boolean steers(char c) {
    int type = Character.getType(c);
    return type == Character.CONTROL
        || type == Character.FORMAT
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR;
  }

  /**
   * Returns whether all of the text can be shown: no such characters, no half of a surrogate pair.
   */
  static boolean showable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (steers(c) || Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }
}
