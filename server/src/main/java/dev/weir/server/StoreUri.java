package dev.weir.server;

import dev.weir.redis.RedisStore;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a shared store is. It may hold a password, and shows none: only {@link #reveal()} does.
 * Immutable.
 */
public final class StoreUri {
  /** Scheme, user and password if there are any, and the rest. */
  private static final Pattern PARTS =
      Pattern.compile("([a-z][a-z+-]*://)(?:(.*)@)?(.*)", Pattern.DOTALL);

  /** Up to the last @ of a URI, however it is garbled, anything may be a password. */
  private static final Pattern SECRET = Pattern.compile("(:?//|:).*@", Pattern.DOTALL);

  /** So may what begins where no host can. */
  private static final Pattern SECRET_ALONE = Pattern.compile("//:.*", Pattern.DOTALL);

  private final String text;

  private StoreUri(String text) {
    this.text = text;
  }

  /**
   * Returns the URI of a shared store.
   *
   * @throws IllegalArgumentException if no store has such a one
   */
  static StoreUri of(String text) {
    RedisStore.Builder unused = RedisStore.builder(text);
    return new StoreUri(text);
  }

  /** Returns a text without what may be a password in it, for people to see. */
  public static String hidden(String text) {
    Matcher secret = SECRET.matcher(text);
    return secret.find()
        ? secret.replaceFirst("$1***@")
        : SECRET_ALONE.matcher(text).replaceFirst("//***");
  }

  /** Returns whether there is a password in it. */
  boolean hasPassword() {
    String user = parts().group(2);
    return user != null && user.contains(":");
  }

  /** Returns the same with a password. */
  StoreUri withPassword(String password) {
    Matcher parts = parts();
    String user = parts.group(2) == null ? "" : parts.group(2);
    String encoded = URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20");
    return new StoreUri(parts.group(1) + user + ":" + encoded + "@" + parts.group(3));
  }

  private Matcher parts() {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalStateException("store: no URI");
    }
    return parts;
  }

  /** Returns all of it, for whoever connects. */
  String reveal() {
    return text;
  }

  /** Returns it without user and password. */
  @Override
  public String toString() {
    return hidden(text);
  }
}
