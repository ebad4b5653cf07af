package dev.weir.server;

import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import io.vertx.core.MultiMap;

/** Header fields for rate limits from before there was a draft worth following. */
public enum OlderFields {
  /** None. */
  NONE,
  /** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset}, the last in seconds. */
  RATELIMIT,
  /** {@code X-RateLimit-*} as Envoy writes them, after the third draft. */
  ENVOY,
  /** {@code X-RateLimit-*} as GitHub writes them: the reset is in seconds since 1970. */
  GITHUB;

  private static final long SECOND = 1_000_000_000L;

  /** Adds the fields of the limit that decided, if any. */
  void add(MultiMap headers, Answer answer) {
    Status status = answer.deciding();
    CurrentLimit limit = status == null ? null : status.currentLimit();
    if (this == NONE || status == null || limit == null) {
      return;
    }
    String prefix = this == RATELIMIT ? "RateLimit-" : "X-RateLimit-";
    long reset = status.durationUntilResetSeconds();
    if (this == GITHUB) {
      reset += Math.floorDiv(Ticker.system().nanos(), SECOND);
    }
    headers
        .add(prefix + "Limit", limit(limit))
        .add(prefix + "Remaining", Long.toString(status.limitRemaining()))
        .add(prefix + "Reset", Long.toString(reset));
  }

  /** Envoy tells the policy along with the limit: {@code 10, 10;w=60;name="per-user"}. */
  private String limit(CurrentLimit limit) {
    String permits = Long.toString(limit.requestsPerUnit());
    if (this != ENVOY) {
      return permits;
    }
    Quota quota = limit.policy().quota();
    StringBuilder field = new StringBuilder(permits).append(", ").append(permits);
    field.append(";w=").append(Math.max(1, quota.windowNanos() / SECOND));
    if (!limit.name().isEmpty()) {
      RateLimitFields.string(field.append(";name="), limit.name());
    }
    return field.toString();
  }
}
