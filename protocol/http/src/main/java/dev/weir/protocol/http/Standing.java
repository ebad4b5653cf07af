package dev.weir.protocol.http;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request's standing with one policy, as header fields show it.
 *
 * @param remaining permits left
 * @param seconds until more is available: on a refusal, until the same request passes; rounded up,
 *     at least 1; {@link #NO_TIME} if waiting does not help, or the time is left out
 */
public record Standing(Policy policy, long remaining, long seconds) {
  /** The value of {@link #seconds} if waiting does not help, or if the time is left out. */
  public static final long NO_TIME = -1;

  /** The most policies in a header field; those that refuse come first. */
  public static final int MAX_MEMBERS = 16;

  /**
   * Returns the standings of an answer by policy name; of several with one name, the tightest. On a
   * refusal only the refusing policies have a time: Retry-After must not be earlier than any of
   * these times.
   */
  public static List<Standing> of(Answer answer) {
    if (answer.statuses().size() == 1) {
      return of(answer, answer.statuses().get(0)); // One status is the usual case.
    }
    List<Standing> allowed = allowed(answer);
    if (allowed != null) {
      return allowed;
    }
    List<Status> limited = new ArrayList<>();
    for (Status status : answer.statuses()) {
      if (status.currentLimit() != null && status.decision() != null) {
        limited.add(status);
      }
    }
    limited.sort(Comparator.comparing(Status::allowed));
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

  /**
   * Returns the standings in the order of the statuses if none refuses and all policies have
   * different names; else null.
   */
  private static @Nullable List<Standing> allowed(Answer answer) {
    List<Status> statuses = answer.statuses();
    if (statuses.size() > MAX_MEMBERS) {
      return null;
    }
    Standing[] standings = new Standing[statuses.size()];
    int count = 0;
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      CurrentLimit limit = status.currentLimit();
      if (!status.allowed()) {
        return null;
      }
      if (limit == null || status.decision() == null) {
        continue;
      }
      for (int j = 0; j < count; j++) {
        if (standings[j].policy.name().equals(limit.policy().name())) {
          return null;
        }
      }
      standings[count++] =
          new Standing(limit.policy(), status.limitRemaining(), seconds(answer, status));
    }
    return List.of(count == standings.length ? standings : Arrays.copyOf(standings, count));
  }

  private static List<Standing> of(Answer answer, Status status) {
    CurrentLimit limit = status.currentLimit();
    return limit == null || status.decision() == null
        ? List.of()
        : List.of(new Standing(limit.policy(), status.limitRemaining(), seconds(answer, status)));
  }

  /** Returns the {@link #seconds} of a status. */
  static long seconds(Answer answer, Status status) {
    if (answer.allowed()) {
      return untouched(status) ? NO_TIME : Math.max(1, status.durationUntilResetSeconds());
    }
    return status.allowed() ? NO_TIME : retryAfterSeconds(status);
  }

  /**
   * Returns whether the whole quota is available: then waiting adds nothing. The draft leaves the
   * parameter to the server, and a time after which nothing changes is of no use.
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
