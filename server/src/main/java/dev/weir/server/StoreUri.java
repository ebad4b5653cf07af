package dev.weir.server;

import dev.weir.redis.RedisStore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a shared store is. It may hold a password, and shows none. Immutable. */
public final class StoreUri {
  /** Up to the last @ of a URI, however it is garbled, anything may be a password. */
  private static final Pattern SECRET = Pattern.compile("(:?//|:).*@", Pattern.DOTALL);

  /** So may what begins where no host can. */
  private static final Pattern SECRET_ALONE = Pattern.compile("//:.*", Pattern.DOTALL);

  /** A host, as a name or in brackets, with or without a port. */
  private static final String HOST = "(?:\\[[^\\]]*\\]|[^\\[\\]@:/?#,\\s]*)";

  private static final String PORT = "\\d{1,5}(?![^/?#,:;.)'\"\\s])";

  /**
   * What stands where a store's port should, and is none: the password of a user without a host.
   */
  private static final Pattern SECRET_PORT =
      Pattern.compile(
          "((?<!http:|https:)//(?:%1$s(?::%2$s)?,)*%1$s:)(?!%2$s).*".formatted(HOST, PORT),
          Pattern.DOTALL);

  /** The value of a parameter. */
  private static final Pattern SECRET_VALUE = Pattern.compile("([?&][^=&#\\s]*=)[^&#\\s'\"]*");

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
    String shown =
        secret.find()
            ? secret.replaceFirst("$1***@")
            : SECRET_ALONE.matcher(text).replaceFirst("//***");
    shown = SECRET_PORT.matcher(shown).replaceFirst("$1***");
    int authority = shown.indexOf("//");
    return authority < 0
        ? shown
        : shown.substring(0, authority)
            + SECRET_VALUE.matcher(shown.substring(authority)).replaceAll("$1***");
  }

  /** Returns a builder of the store that is there. */
  RedisStore.Builder builder() {
    return RedisStore.builder(text);
  }

  /** Returns it without user and password. */
  @Override
  public String toString() {
    return hidden(text);
  }
}
