package dev.weir.server.internal.settings;

import dev.weir.redis.RedisStore;
import dev.weir.shared.ClusterMember;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URI of a shared store: of a Redis, or of a cluster's members. It may hold a password, which
 * it never shows. Immutable.
 */
public final class StoreUri {
  /** Any text before the last @ of a URI may be a password, even if the URI is malformed. */
  private static final Pattern SECRET = Pattern.compile("(:?//|:).*@", Pattern.DOTALL);

  /** Text that begins where no host can begin, which may be a password too. */
  private static final Pattern SECRET_ALONE = Pattern.compile("//:.*", Pattern.DOTALL);

  /** A host, as a name or in brackets, with or without a port. */
  private static final String HOST = "(?:\\[[^\\]]*\\]|[^\\[\\]@:/?#,\\s]*)";

  private static final String PORT = "\\d{1,5}(?![^/?#,:;.)'\"\\s])";

  /** Text in the place of a port that is not a port: the password of a user without a host. */
  private static final Pattern SECRET_PORT =
      Pattern.compile(
          "((?<!http:|https:)//(?:%1$s(?::%2$s)?,)*%1$s:)(?!%2$s).*".formatted(HOST, PORT),
          Pattern.DOTALL);

  /** The value of a parameter. */
  private static final Pattern SECRET_VALUE = Pattern.compile("([?&][^=&#\\s]*=)[^&#\\s'\"]*");

  /** A URI in a line. */
  private static final Pattern URI_IN_LINE = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*://\\S*");

  private static final String CLUSTER = "weir://";
  private static final String CLUSTER_BY_TLS = "weirs://";

  private final String text;

  /** The members of a cluster; empty for a Redis. */
  private final List<ClusterMember> seeds;

  private StoreUri(String text, List<ClusterMember> seeds) {
    this.text = text;
    this.seeds = seeds;
  }

  /**
   * Returns the URI of a shared store.
   *
   * @throws IllegalArgumentException if it is not the URI of a store
   */
  static StoreUri of(String text) {
    for (String scheme : new String[] {CLUSTER, CLUSTER_BY_TLS}) {
      if (text.startsWith(scheme)) {
        return new StoreUri(
            text, SettingKind.members().reader().read(text.substring(scheme.length())));
      }
    }
    RedisStore.Builder unused = RedisStore.builder(text);
    return new StoreUri(text, List.of());
  }

  /** Returns a text without the parts that may be a password, for display. */
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

  /**
   * Returns a line about a store, in which each URI is without the parts that may be a password.
   * Other text of it is the store's own, such as its reason, and stays.
   */
  public static String hiddenIn(String line) {
    return URI_IN_LINE
        .matcher(line)
        .replaceAll(uri -> Matcher.quoteReplacement(hidden(uri.group())));
  }

  /**
   * Returns the members of the cluster that the URI names, at least one; empty if it names none.
   */
  public List<ClusterMember> seeds() {
    return seeds;
  }

  /** Returns whether those members are called over TLS. */
  boolean clusterByTls() {
    return text.startsWith(CLUSTER_BY_TLS);
  }

  /** Returns a builder of the store, which is not a cluster of Weir's servers. */
  public RedisStore.Builder builder() {
    return RedisStore.builder(text);
  }

  /** Returns the URI without user and password. */
  @Override
  public String toString() {
    return hidden(text);
  }
}
