package dev.weir.identity;

/** Text in the form in which a message quotes it: no control characters, and not too much of it. */
final class QuotedText {
  private static final int MAX_LENGTH = 60;

  private QuotedText() {}

  static String of(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    int end = Math.min(text.length(), MAX_LENGTH);
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      if (PlainText.steers(c)) {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append(end < text.length() ? "...\"" : "\"").toString();
  }
}
