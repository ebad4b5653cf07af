package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.RateLimitFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.protocol.http.Standing;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The header fields of answers of {@code /v1/check}, without those that describe the body.
 * Immutable.
 */
record CheckFields(OlderFields older, RetryFields retry, Ticker ticker) {
  /**
   * Adds the fields of an answer.
   *
   * @param to receives the name and the value of each, both in ASCII
   */
  void add(CheckAnswer check, Answer answer, BiConsumer<CharSequence, CharSequence> to) {
    to.accept(Reply.CACHE_CONTROL, Reply.NO_STORE);
    List<Standing> standings = check.standings();
    if (!standings.isEmpty()) {
      to.accept(Reply.RATE_LIMIT_POLICY, RateLimitFields.rateLimitPolicy(standings));
      to.accept(Reply.RATE_LIMIT, RateLimitFields.rateLimit(standings));
      older.add(answer, ticker.nanos(), to::accept);
    }
    if (!answer.allowed()) {
      retry.add(check.retryAfterSeconds(), to);
    }
  }
}
