package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.ProblemType;
import dev.weir.protocol.http.RateLimitFields;
import dev.weir.protocol.http.Standing;
import dev.weir.rules.Request;
import dev.weir.spring.RateLimitExceededException;
import java.net.URI;
import java.util.List;
import java.util.function.BiConsumer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponse;

/** A refusal with its form over HTTP. A separate class, because spring-web may be absent. */
public final class WebRateLimitExceededException extends RateLimitExceededException
    implements ErrorResponse {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param request the request of the call
   * @param answer the answer that refuses it
   */
  public WebRateLimitExceededException(Request request, Answer answer) {
    super(request, answer);
  }

  private CheckAnswer check() {
    return new CheckAnswer(request(), answer());
  }

  @Override
  public HttpStatusCode getStatusCode() {
    return HttpStatusCode.valueOf(check().httpStatus());
  }

  @Override
  public HttpHeaders getHeaders() {
    HttpHeaders headers = new HttpHeaders();
    fields(headers::set, headers::set);
    return headers;
  }

  /**
   * Returns the header fields through two functions.
   *
   * @param set receives name and value of a field that a response has once
   * @param add receives those of a list, which may already contain a filter's limits
   */
  void fields(BiConsumer<String, String> set, BiConsumer<String, String> add) {
    CheckAnswer check = check();
    List<Standing> standings = check.standings();
    if (!standings.isEmpty()) {
      add.accept(RateLimitFields.RATE_LIMIT_POLICY, RateLimitFields.rateLimitPolicy(standings));
      add.accept(RateLimitFields.RATE_LIMIT, RateLimitFields.rateLimit(standings));
    }
    if (check.retryAfterSeconds() != Standing.NO_TIME) {
      set.accept(HttpHeaders.RETRY_AFTER, Long.toString(check.retryAfterSeconds()));
    }
    set.accept(HttpHeaders.CACHE_CONTROL, "no-store");
  }

  @Override
  public ProblemDetail getBody() {
    CheckAnswer check = check();
    ProblemType type =
        check.httpStatus() == 429
            ? ProblemType.QUOTA_EXCEEDED
            : ProblemType.TEMPORARY_REDUCED_CAPACITY;
    ProblemDetail problem = ProblemDetail.forStatusAndDetail(getStatusCode(), check.detail());
    problem.setType(URI.create(type.uri()));
    problem.setTitle(type.title());
    problem.setProperty("reason", check.reason().name());
    if (check.retryAfterSeconds() != Standing.NO_TIME) {
      problem.setProperty("retry-after-ms", check.retryAfterMillis());
    }
    return problem;
  }

  /** Returns the same body that the service and the filters send, UTF-8 JSON. */
  byte[] json() {
    return check().json();
  }
}
