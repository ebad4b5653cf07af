package dev.weir.server.internal.deciding;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.internal.UncertainCause;
import dev.weir.rules.Request;
import java.util.Collections;
import java.util.List;

/**
 * The answers to requests that no rule could decide.
 *
 * @param allow true if such requests pass
 */
record UndecidedAnswers(boolean allow, Ticker ticker) {
  /** The retry-after of these requests, the same as with a store that does not answer. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  /** Returns the answer before the first rules. */
  Answer withoutRules(Request request) {
    return of(request, Reason.UNCERTAIN, UncertainCause.NO_RULES);
  }

  /** Returns the answer of an overloaded server. */
  Answer overloaded(Request request) {
    return of(request, Reason.OVERLOADED, "");
  }

  private Answer of(Request request, Reason reason, String cause) {
    long retryNanos = allow ? 0 : RETRY_NANOS;
    Decision decision =
        new Decision(allow, reason, cause, "", 0, 0, retryNanos, 0, ticker.nanos(), List.of());
    Status status = new Status(allow, null, decision, null, 0, 0);
    int descriptors = Math.max(1, request.descriptors().size());
    return Answer.of(allow, Collections.nCopies(descriptors, status), null, 0);
  }
}
