package dev.weir.protocol.http;

import dev.weir.Quota;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.util.List;
import java.util.function.BiConsumer;

/** The header fields for rate limits that are older than the draft of {@link RateLimitFields}. */
public enum OlderFields {
  /** No fields. */
  NONE,
  /** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset}, the last in seconds. */
  RATELIMIT,
  /** {@code X-RateLimit-*} as Envoy writes them, after the third draft. */
  ENVOY,
  /**
   * {@code X-RateLimit-*} as GitHub writes them: the reset is in seconds since 1970, the first one
   * that is not too early.
   */
  GITHUB;

  private static final long SECOND = 1_000_000_000L;

  private static final String LIMIT = "Limit";
  private static final String REMAINING = "Remaining";
  private static final String RESET = "Reset";

  /**
   * Adds the fields of the limit that decided, if there is one.
   *
   * @param nowNanos nanoseconds since 1970, for a reset that is an instant
   * @param headers receives the name and the value of each field
   */
  public void add(Answer answer, long nowNanos, BiConsumer<String, String> headers) {
    Status status = answer.deciding();
    CurrentLimit limit = status == null ? null : status.currentLimit();
    if (this == NONE || status == null || limit == null) {
      return;
    }
    String prefix = prefix();
    long reset =
        this == GITHUB
            ? -Math.floorDiv(-(nowNanos + status.untilResetNanos()), SECOND)
            : status.durationUntilResetSeconds();
    headers.accept(prefix + LIMIT, limit(limit));
    headers.accept(prefix + REMAINING, Long.toString(status.limitRemaining()));
    headers.accept(prefix + RESET, Long.toString(reset));
  }

  /** Returns the fields' names. */
  public List<String> names() {
    return this == NONE
        ? List.of()
        : List.of(prefix() + LIMIT, prefix() + REMAINING, prefix() + RESET);
  }

  private String prefix() {
    return this == RATELIMIT ? "RateLimit-" : "X-RateLimit-";
  }

  /** Returns the limit and its policy as Envoy sends them: {@code 10, 10;w=60;name="per-user"}. */
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
