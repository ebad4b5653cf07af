package dev.weir.protocol.http;

import dev.weir.Quota;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.CostMode;
import dev.weir.rules.Rule;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The header fields for rate limits that are older than the draft of {@link RateLimitFields}. Each
 * form is that of a service whose clients exist.
 */
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
  GITHUB,
  /**
   * {@code x-ratelimit-*-requests} and {@code x-ratelimit-*-tokens} as services of language models
   * write them: the reset is a time such as {@code 1m3s}. A refusal has what their clients need
   * besides: a member {@code error} in its body ({@link CheckAnswer}), and {@code x-should-retry:
   * false} if it holds for a minute or longer ({@link RetryFields}).
   */
  OPENAI;

  private static final long SECOND = 1_000_000_000L;
  private static final long MINUTE_SECONDS = 60;
  private static final long HOUR_SECONDS = 3600;

  private static final String LIMIT = "Limit";
  private static final String REMAINING = "Remaining";
  private static final String RESET = "Reset";
  private static final String MODEL_PREFIX = "x-ratelimit-";
  private static final String REQUESTS = "-requests";
  private static final String TOKENS = "-tokens";

  /**
   * Adds the fields of the limit that decided, if there is one; with {@link #OPENAI} those of the
   * tightest limit of requests, and of the tightest one of tokens.
   *
   * @param nowNanos nanoseconds since 1970, for a reset that is an instant
   * @param headers receives the name and the value of each field
   */
  public void add(Answer answer, long nowNanos, BiConsumer<String, String> headers) {
    if (this == OPENAI) {
      addOfModels(answer, REQUESTS, headers);
      addOfModels(answer, TOKENS, headers);
      return;
    }
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

  private static void addOfModels(Answer answer, String kind, BiConsumer<String, String> headers) {
    Status tightest = null;
    for (Status status : answer.statuses()) {
      boolean counts = status.currentLimit() != null && kind(status).equals(kind);
      if (counts && (tightest == null || isTighter(status, tightest))) {
        tightest = status;
      }
    }
    CurrentLimit limit = tightest == null ? null : tightest.currentLimit();
    if (tightest != null && limit != null) {
      headers.accept(MODEL_PREFIX + "limit" + kind, Long.toString(limit.requestsPerUnit()));
      headers.accept(MODEL_PREFIX + "remaining" + kind, Long.toString(tightest.limitRemaining()));
      headers.accept(MODEL_PREFIX + "reset" + kind, time(tightest.durationUntilResetSeconds()));
    }
  }

  /** Returns whether one status refuses and the other does not, or has less left. */
  private static boolean isTighter(Status status, Status other) {
    return status.allowed() == other.allowed()
        ? status.limitRemaining() < other.limitRemaining()
        : !status.allowed();
  }

  /**
   * Returns the kind of the permits that a limit counts: tokens if its rule takes costs that are
   * known afterwards, or has the word in its name; else requests.
   */
  private static String kind(Status status) {
    Rule rule = status.rule();
    boolean afterwards = rule != null && rule.costs() != CostMode.BEFORE;
    return afterwards || named(status.currentLimit()) ? TOKENS : REQUESTS;
  }

  private static boolean named(@Nullable CurrentLimit limit) {
    return limit != null && limit.policy().name().toLowerCase(Locale.ROOT).contains("token");
  }

  /** Returns a time in whole units: {@code 3s}, {@code 1m3s} or {@code 1h0m3s}. */
  private static String time(long seconds) {
    StringBuilder text = new StringBuilder();
    if (seconds >= HOUR_SECONDS) {
      text.append(seconds / HOUR_SECONDS).append('h');
    }
    if (seconds >= MINUTE_SECONDS) {
      text.append(seconds % HOUR_SECONDS / MINUTE_SECONDS).append('m');
    }
    return text.append(seconds % MINUTE_SECONDS).append('s').toString();
  }

  /** Returns the fields' names. */
  public List<String> names() {
    return switch (this) {
      case NONE -> List.of();
      case OPENAI ->
          List.of(
              MODEL_PREFIX + "limit" + REQUESTS,
              MODEL_PREFIX + "remaining" + REQUESTS,
              MODEL_PREFIX + "reset" + REQUESTS,
              MODEL_PREFIX + "limit" + TOKENS,
              MODEL_PREFIX + "remaining" + TOKENS,
              MODEL_PREFIX + "reset" + TOKENS);
      default -> List.of(prefix() + LIMIT, prefix() + REMAINING, prefix() + RESET);
    };
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
