package dev.weir.server;

/** Header fields for rate limits from before there was a draft worth following. */
public enum OlderFields {
  /** None. */
  NONE,
  /** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset}, the last in seconds. */
  RATELIMIT,
  /** {@code X-RateLimit-*} as Envoy writes them, after the third draft. */
  ENVOY,
  /** {@code X-RateLimit-*} as GitHub writes them: the reset is in seconds since 1970. */
  GITHUB
}
