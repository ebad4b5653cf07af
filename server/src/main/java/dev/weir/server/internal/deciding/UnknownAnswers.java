package dev.weir.server.internal.deciding;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import java.util.Collections;

/**
 * The answers to requests that no rule could decide.
 *
 * @param allow true if such requests pass
 */
record UnknownAnswers(boolean allow, Ticker ticker) {
  /** The retry-after of these requests, the same as with a store that does not answer. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  Answer uncertain(Request request) {
    return of(request, Reason.UNCERTAIN);
  }

  Answer of(Request request, Reason reason) {
    Decision decision =
        new Decision(allow, reason, "", 0, 0, allow ? 0 : RETRY_NANOS, 0, ticker.nanos());
    Status status = new Status(allow, null, decision, null, 0, 0);
    int descriptors = Math.max(1, request.descriptors().size());
    return Answer.of(allow, Collections.nCopies(descriptors, status), null, 0);
  }
}
