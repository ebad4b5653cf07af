package dev.weir.siege;

import org.jspecify.annotations.Nullable;

/**
 * The ports of a server.
 *
 * @param host the server's address
 * @param token the token of its clients, null if none is required
 */
public record Target(String host, int http, int grpc, int resp, @Nullable String token) {
  /** Returns the same server, for requests with another token. */
  public Target withToken(@Nullable String other) {
    return new Target(host, http, grpc, resp, other);
  }
}
