package dev.weir.spring.web;

import dev.weir.engine.Answer;
import dev.weir.http.Verdict;
import dev.weir.rules.Request;
import dev.weir.spring.method.WebRateLimitExceededException;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ResponseStatusException;

/** The exceptions for refusals, for the application's own handling of errors. */
final class RefusalExceptions {
  private RefusalExceptions() {}

  /** Returns an exception with the contents of the verdict. */
  static RuntimeException of(Verdict verdict) {
    Request request = verdict.request();
    Answer answer = verdict.answer();
    return request == null || answer == null || answer.error() != null
        ? new ResponseStatusException(HttpStatusCode.valueOf(verdict.status()), verdict.detail())
        : new WebRateLimitExceededException(request, answer);
  }
}
