package dev.weir.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Encoded texts for parts of a URL. [RFC 3986] */
public final class UrlText {
  private static final String UNRESERVED =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

  private UrlText() {}

  /** Returns a text as one segment of a path, whatever it contains, or as a value in a query. */
  public static String encoded(String text) {
    // A segment of dots only would be a step in the tree of folders.
    boolean dots = text.equals(".") || text.equals("..");
    StringBuilder encoded = new StringBuilder(text.length() + 16);
    for (byte each : text.getBytes(UTF_8)) {
      char c = (char) (each & 0xff);
      if (UNRESERVED.indexOf(c) >= 0 && !(dots && c == '.')) {
        encoded.append(c);
      } else {
        encoded
            .append('%')
            .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
            .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return encoded.toString();
  }

  /**
   * Returns a query of the parameters that have a value, with its question mark; or an empty text.
   *
   * @param namesAndValues the names and values, in turn
   */
  public static String query(String... namesAndValues) {
    StringBuilder query = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      if (!namesAndValues[i + 1].isEmpty()) {
        query
            .append(query.length() == 0 ? '?' : '&')
            .append(namesAndValues[i])
            .append('=')
            .append(encoded(namesAndValues[i + 1]));
      }
    }
    return query.toString();
  }
}
