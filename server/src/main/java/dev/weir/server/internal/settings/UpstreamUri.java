package dev.weir.server.internal.settings;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The server whose limits this one holds, by its gRPC port. Immutable.
 *
 * @param target {@code host:port}
 * @param tls true if the connection is secured
 */
public record UpstreamUri(String target, boolean tls) {
  private static final Pattern URI =
      Pattern.compile("weir(s?)://((?:\\[[0-9a-fA-F:.]+\\]|[^\\[\\]@:/?#,\\s]+):(\\d{1,5}))/?");

  private static final int MAX_PORT = 65_535;

  /**
   * Returns the address in a text.
   *
   * @throws IllegalArgumentException if it is not an address
   */
  static UpstreamUri of(String text) {
    Matcher matcher = URI.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not an upstream");
    }
    int port = Integer.parseInt(matcher.group(3));
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("not a port");
    }
    return new UpstreamUri(matcher.group(2), !matcher.group(1).isEmpty());
  }

  @Override
  public String toString() {
    return (tls ? "weirs://" : "weir://") + target;
  }
}
