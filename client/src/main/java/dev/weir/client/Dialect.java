package dev.weir.client;

/** The protocol between a client and its service. */
public enum Dialect {
  /**
   * Weir's own protocol, with leases. An older service has no leases; then it is used without them.
   */
  WEIR,

  /**
   * {@code envoy.service.ratelimit.v3}, the protocol of any rate limit service for Envoy. There are
   * no leases: each request is a call unless a remembered refusal answers it.
   */
  ENVOY
}
