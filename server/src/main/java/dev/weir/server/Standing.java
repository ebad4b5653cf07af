package dev.weir.server;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.Code;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where a request stands with one policy, as header fields tell it.
 *
 * @param remaining permits left
 * @param seconds until more is available: on a refusal, until the same request passes; rounded up,
 *     at least 1; {@link #NO_TIME} where no time helps, or none is to be told
 */
record Standing(Policy policy, long remaining, long seconds) {
  static final long NO_TIME = -1;

  /** A header field of more policies than that helps nobody; those that refuse come first. */
  static final int MAX_MEMBERS = 16;

  /**
   * Returns the standings of an answer, by policy name; of several with one name, the tightest. On
   * a refusal, only policies that refuse tell a time: Retry-After must not be earlier than any.
   */
  static List<Standing> of(Answer answer) {
    if (answer.statuses().size() == 1) {
      return of(answer, answer.statuses().get(0)); // The usual case.
    }
    List<Status> limited = new ArrayList<>();
    for (Status status : answer.statuses()) {
      if (status.currentLimit() != null && status.decision() != null) {
        limited.add(status);
      }
    }
    limited.sort(Comparator.comparing((Status status) -> status.code() == Code.OK));
    Map<String, Standing> byName = new LinkedHashMap<>();
    for (Status status : limited) {
      CurrentLimit limit = status.currentLimit();
      if (limit != null) {
        Standing standing =
            new Standing(limit.policy(), status.limitRemaining(), seconds(answer, status));
        if (byName.size() < MAX_MEMBERS || byName.containsKey(limit.policy().name())) {
          byName.merge(limit.policy().name(), standing, Standing::tighter);
        }
      }
    }
    return List.copyOf(byName.values());
  }

  private static List<Standing> of(Answer answer, Status status) {
    CurrentLimit limit = status.currentLimit();
    return limit == null || status.decision() == null
        ? List.of()
        : List.of(new Standing(limit.policy(), status.limitRemaining(), seconds(answer, status)));
  }

  private static long seconds(Answer answer, Status status) {
    if (answer.allowed()) {
      return untouched(status) ? NO_TIME : Math.max(1, status.durationUntilResetSeconds());
    }
    return status.code() == Code.OVER_LIMIT ? retryAfterSeconds(status) : NO_TIME;
  }

  /**
   * Returns whether all is available already, so that no time brings more. The draft leaves the
   * parameter to the server, and a number of seconds after which nothing changes tells nobody
   * anything.
   */
  private static boolean untouched(Status status) {
    Decision decision = status.decision();
    return decision != null
        && decision.resetAfterNanos() <= 0
        && status.limitRemaining() >= decision.limit();
  }

  /** Returns the whole seconds after which a refused descriptor passes, at least 1. */
  static long retryAfterSeconds(Status status) {
    Decision decision = status.decision();
    if (decision == null || decision.retryAfterNanos() == Decision.NEVER) {
      return NO_TIME;
    }
    return Math.max(1, decision.retryAfterSeconds());
  }

  private Standing tighter(Standing other) {
    return new Standing(
        policy, Math.min(remaining, other.remaining), Math.max(seconds, other.seconds));
  }
}
