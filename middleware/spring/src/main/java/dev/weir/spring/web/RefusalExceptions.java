package dev.weir.spring.web;

import dev.weir.engine.Answer;
import dev.weir.http.Verdict;
import dev.weir.rules.Request;
import dev.weir.spring.method.WebRateLimitExceededException;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;

/** Makes exceptions of refusals, for the application's own handling of errors. */
final class RefusalExceptions {
  private RefusalExceptions() {}

  /** Returns the exception that says what the verdict says. */
  static RuntimeException of(Verdict verdict) {
    Request request = verdict.request();
    Answer answer = verdict.answer();
    return request == null || answer == null || answer.error() != null
        ? new ResponseStatusException(HttpStatusCode.valueOf(verdict.status()), verdict.detail())
        : new WebRateLimitExceededException(request, answer);
  }
}
