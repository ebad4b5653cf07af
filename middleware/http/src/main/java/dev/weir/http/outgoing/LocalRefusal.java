package dev.weir.http.outgoing;

import dev.weir.Decision;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.internal.RememberedRefusals.Refusal;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.rules.Request;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a request is not sent. A value: immutable.
 *
 * @param host the host of the request
 * @param status the HTTP status with the same meaning: 429, or 503 if the limit could not be
 *     decided or if the service had answered with that
 * @param retryAfterNanos the nanoseconds after which the same request may be sent, by the service's
 *     own statement if it has refused requests; {@link Decision#NEVER} if no wait helps, or none is
 *     known, as when an adaptive limit refuses it
 * @param detail a sentence or two with the reason
 * @param answer of the rules that refuse it; null if the service has refused requests until a later
 *     time, or an adaptive limit refuses it
 */
public record LocalRefusal(
    String host, int status, long retryAfterNanos, String detail, @Nullable Answer answer) {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVICE_UNAVAILABLE = 503;
  private static final long SECOND = 1_000_000_000L;

  /** Makes the refusal by rules. */
  static LocalRefusal of(String host, Request request, Answer answer) {
    if (answer.error() != null) {
      return new LocalRefusal(host, SERVICE_UNAVAILABLE, Decision.NEVER, answer.error(), answer);
    }
    long longest = 0;
    for (Status status : answer.refusing()) {
      Decision decision = status.decision();
      longest = Math.max(longest, decision == null ? 0 : decision.retryAfterNanos());
    }
    CheckAnswer check = new CheckAnswer(request, answer);
    return new LocalRefusal(host, check.httpStatus(), longest, check.detail(), answer);
  }

  /** Makes the refusal by a service. */
  static LocalRefusal of(String host, Refusal refusal, long nowNanos) {
    long wait = Math.max(0, refusal.statedNanos() - nowNanos);
    String detail =
        "It answered " + refusal.status() + " and wants no requests for " + seconds(wait) + " s.";
    return new LocalRefusal(host, refusal.status(), wait, detail, null);
  }

  /** Makes the refusal by an adaptive limit. */
  static LocalRefusal of(String host, AdaptiveLimiter limiter) {
    String detail =
        "As many requests are in flight as it can take now, which are " + limiter.limit() + ".";
    return new LocalRefusal(host, SERVICE_UNAVAILABLE, Decision.NEVER, detail, null);
  }

  /**
   * Returns the value of {@code Retry-After}: whole seconds, rounded up, at least 1; null if no
   * wait helps or none is known.
   */
  public @Nullable String retryAfter() {
    return retryAfterNanos == Decision.NEVER ? null : Long.toString(seconds(retryAfterNanos));
  }

  /** Returns the name of {@link #status} for readers. */
  public String reasonPhrase() {
    return status == TOO_MANY_REQUESTS ? "Too Many Requests" : "Service Unavailable";
  }

  /** Returns host and reason, for a log. */
  public String message() {
    return host + ": not sent. " + detail;
  }

  private static long seconds(long nanos) {
    return Math.max(1, (nanos - 1) / SECOND + 1);
  }
}
