package dev.weir.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import java.util.ArrayList;
import java.util.List;

/** Where Redis is. */
final class Address {
  private static final String CLUSTER = "redis-cluster://";
  private static final String TLS_CLUSTER = "rediss-cluster://";
  private static final String EXPECTED =
      "redis://, rediss://, redis-sentinel:// or redis-cluster://";

  private final List<RedisURI> uris;
  private final boolean cluster;

  private Address(List<RedisURI> uris, boolean cluster) {
    this.uris = uris;
    this.cluster = cluster;
  }

  /**
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
    return new Address(uris, cluster);
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
      return parsed;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("store: not an address" + expected());
    }
  }

  /** Takes a port off the host: the client leaves it there if the host has an underscore. */
  private static void splitPort(RedisURI uri) {
    String host = uri.getHost();
    int colon = host.lastIndexOf(':');
    if (colon >= 0 && !host.endsWith("]")) {
      uri.setHost(host.substring(0, colon));
      uri.setPort(Integer.parseInt(host.substring(colon + 1)));
    }
  }

  private static String expected() {
    return " (expected: " + EXPECTED + " and a host)";
  }

  boolean isCluster() {
    return cluster;
  }

  void password(CharSequence password) {
    for (RedisURI uri : uris) {
      RedisCredentials given = uri.getCredentialsProvider().resolveCredentials().block();
      String user = given == null ? null : given.getUsername();
      char[] secret = password.toString().toCharArray();
      uri.setCredentialsProvider(
          new StaticCredentialsProvider(RedisCredentials.just(user, secret)));
    }
  }

  Link open(LinkSettings settings, Counters counters) {
    return cluster
        ? new ClusterLink(uris, settings, counters)
        : new SingleLink(uris.get(0), settings, counters);
  }
}
