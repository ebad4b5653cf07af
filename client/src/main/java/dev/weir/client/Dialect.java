package dev.weir.client;

/** What a client and its service say to each other. */
public enum Dialect {
  /** Weir's own protocol, with leases; without them where the service is an older one. */
  WEIR,

  /**
   * {@code envoy.service.ratelimit.v3}, as any rate limit service for Envoy speaks it. There are no
   * leases: each request is a call, save where a refusal is remembered.
   */
  ENVOY
}
