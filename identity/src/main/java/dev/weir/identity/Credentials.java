package dev.weir.identity;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A reader of the Authorization header that gives the same user the same text each time. */
final class Credentials {
  private Credentials() {}

  /**
   * Returns the scheme in lower case, a space, and the credentials; for {@code Basic} only the
   * user's name, because otherwise each password that is tried would have a counter of its own.
   * Servers take any case and number of spaces, so these must not make a difference.
   *
   * @return null if the scheme is {@code Basic} and the credentials cannot be read
   */
  static @Nullable String steady(String text) {
    int space = text.indexOf(' ');
    if (space < 0) {
      return text;
    }
    String scheme = text.substring(0, space).toLowerCase(Locale.ROOT);
    String credentials = text.substring(space).strip();
    if (scheme.equals("basic")) {
      String user = user(credentials);
      return user == null ? null : scheme + " " + user;
    }
    return scheme + " " + credentials;
  }

  private static @Nullable String user(String credentials) {
    try {
      String pair = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
      int colon = pair.indexOf(':');
      return colon < 0 ? null : pair.substring(0, colon);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
