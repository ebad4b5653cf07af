package dev.weir.spring;

import dev.weir.engine.Answer;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.rules.Request;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The refusal of a call of a method with {@link RateLimit}. It has no stack trace, because refusals
 * may come by the thousand.
 *
 * <p>If spring-web is on the class path it is also an {@code ErrorResponse}: 429 if a limit is
 * certainly exceeded, 503 if the store could not decide, with {@code Retry-After}, {@code
 * RateLimit} and {@code RateLimit-Policy}.
 */
public class RateLimitExceededException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Request request;
  private final transient Answer answer;

  /**
   * Makes an exception.
   *
   * @param request the request of the call
   * @param answer the answer that refuses it
   */
  public RateLimitExceededException(Request request, Answer answer) {
    super(new CheckAnswer(request, answer).detail(), null, false, false);
    this.request = request;
    this.answer = answer;
  }

  /** Returns the request of the call: one descriptor for each annotation. */
  public final Request request() {
    return request;
  }

  /** Returns the answer that refuses it, with one status for each descriptor. */
  public final Answer answer() {
    return answer;
  }

  /** Returns the time after which the same call may pass, or null if it never will. */
  public final @Nullable Duration retryAfter() {
    CheckAnswer check = new CheckAnswer(request, answer);
    return check.retryAfterSeconds() < 0 ? null : Duration.ofMillis(check.retryAfterMillis());
  }
}
