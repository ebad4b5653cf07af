package dev.weir.redis;

import dev.weir.shared.Link;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The address of a Redis, from a URI. */
final class Address {
  private static final String CLUSTER = "redis-cluster://";
  private static final String TLS_CLUSTER = "rediss-cluster://";
  private static final String EXPECTED =
      "redis://, rediss://, redis-sentinel:// or redis-cluster://";

  private static final int MOST_PORT = 65_535;

  /** The parameters that a URI may have behind the question mark. */
  private static final List<String> PARAMETERS =
      List.of(
          "clientName",
          "database",
          "db",
          "libraryName",
          "libraryVersion",
          "sentinelMasterId",
          "timeout",
          "verifyPeer");

  private final List<RedisURI> uris;
  private final boolean cluster;
  private final @Nullable String user;

  private Address(List<RedisURI> uris, boolean cluster, @Nullable String user) {
    this.uris = uris;
    this.cluster = cluster;
    this.user = user;
  }

  /**
   * Parses a URI.
   *
   * @throws IllegalArgumentException if the URI cannot be used; the message does not repeat it,
   *     since it may contain a password
   */
  static Address of(String uri) {
    List<String> parts = new ArrayList<>();
    boolean cluster = uri.startsWith(CLUSTER) || uri.startsWith(TLS_CLUSTER);
    if (cluster) {
      String scheme = uri.startsWith(TLS_CLUSTER) ? "rediss://" : "redis://";
      String rest = uri.substring(uri.indexOf("://") + 3);
      int at = rest.lastIndexOf('@');
      String user = rest.substring(0, at + 1);
      for (String host : rest.substring(at + 1).split(",", -1)) {
        parts.add(scheme + user + host);
      }
    } else {
      parts.add(uri);
    }
    List<RedisURI> uris = new ArrayList<>();
    for (String part : parts) {
      uris.add(parsed(part));
    }
    return new Address(uris, cluster, user(parts.get(0)));
  }

  private static RedisURI parsed(String uri) {
    boolean known =
        uri.startsWith("redis://")
            || uri.startsWith("rediss://")
            || uri.startsWith("redis-sentinel://")
            || uri.startsWith("rediss-sentinel://");
    if (!known) {
      int end = uri.indexOf("://");
      boolean hasScheme = end > 0 && uri.substring(0, end).matches("[A-Za-z][A-Za-z0-9+-]*");
      throw new IllegalArgumentException(
          "store: " + (hasScheme ? uri.substring(0, end + 3) : "no scheme") + expected());
    }
    checkParameters(uri);
    try {
      RedisURI parsed = RedisURI.create(uri);
      boolean somewhere =
          !parsed.getSentinels().isEmpty()
              || (parsed.getHost() != null && !parsed.getHost().isEmpty());
      if (!somewhere) {
        throw new IllegalArgumentException("no host");
      }
      if (parsed.getSentinels().isEmpty()) {
        splitPort(parsed);
      }
      checkPort(parsed);
      parsed.getSentinels().forEach(Address::checkPort);
      return parsed;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("store: not an address" + expected());
    }
  }

  /** Separates a port from the host: the client leaves it there if the host has an underscore. */
  private static void splitPort(RedisURI uri) {
    String host = uri.getHost();
    int colon = host.lastIndexOf(':');
    if (colon >= 0 && !host.endsWith("]")) {
      uri.setHost(host.substring(0, colon));
      uri.setPort(Integer.parseInt(host.substring(colon + 1)));
    }
  }

  private static void checkPort(RedisURI uri) {
    if (uri.getPort() < 1 || uri.getPort() > MOST_PORT) {
      throw new IllegalArgumentException("no port");
    }
  }

  /** Refuses unknown parameters, which the client would ignore: a password, for example. */
  private static void checkParameters(String uri) {
    int mark = uri.indexOf('?');
    if (mark < 0) {
      return;
    }
    int end = uri.indexOf('#', mark);
    for (String parameter : uri.substring(mark + 1, end < 0 ? uri.length() : end).split("&", -1)) {
      if (!PARAMETERS.contains(parameter.replaceFirst("=.*", ""))) {
        throw new IllegalArgumentException(
            "store: a parameter that is not known (expected: "
                + String.join(", ", PARAMETERS)
                + "; a password stands before the host)");
      }
    }
  }

  /** Returns the user that a URI names, with or without a password; null if it names none. */
  private static @Nullable String user(String uri) {
    String authority = uri.substring(uri.indexOf("://") + 3).replaceFirst("[/?#].*", "");
    int at = authority.lastIndexOf('@');
    String name = at < 0 ? "" : authority.substring(0, at).replaceFirst(":.*", "");
    try {
      return name.isEmpty() ? null : new URI("redis://" + name + "@host").getUserInfo();
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private static String expected() {
    return " (expected: " + EXPECTED + " and a host)";
  }

  boolean isCluster() {
    return cluster;
  }

  /** Sets the password of the user that the URI names, or of the default one if it names none. */
  void password(CharSequence password) {
    for (RedisURI uri : uris) {
      char[] secret = password.toString().toCharArray();
      // The client would take a user without a password for a password.
      uri.setCredentialsProvider(
          new StaticCredentialsProvider(RedisCredentials.just(user, secret)));
    }
  }

  Link open(LinkSettings settings) {
    return cluster ? new RedisClusterLink(uris, settings) : new SingleLink(uris.get(0), settings);
  }
}
