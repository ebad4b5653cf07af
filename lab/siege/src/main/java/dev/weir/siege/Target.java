package dev.weir.siege;

import org.jspecify.annotations.Nullable;

/**
 * The ports of a server.
 *
 * @param host its address
 * @param token of its clients, null if none is required
 */
public record Target(String host, int http, int grpc, int resp, @Nullable String token) {
  /** Returns the same server, asked with another token. */
  public Target withToken(@Nullable String other) {
    return new Target(host, http, grpc, resp, other);
  }
}
