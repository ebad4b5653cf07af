package dev.weir.protocol.http;

import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.util.List;

/**
 * What is the same in the header fields of all answers that show the same policies, as text.
 * Immutable.
 */
public final class PolicyTexts {
  private final List<Policy> policies;
  private final String rateLimitPolicy;

  public PolicyTexts(List<Standing> standings) {
    policies = standings.stream().map(Standing::policy).toList();
    rateLimitPolicy = RateLimitFields.rateLimitPolicy(standings);
  }

  /** Returns whether these are the standings' policies, in their order. */
  public boolean areOf(List<Standing> standings) {
    boolean same = standings.size() == policies.size();
    for (int i = 0; i < standings.size() && same; i++) {
      same = standings.get(i).policy() == policies.get(i);
    }
    return same;
  }

  /**
   * Returns whether an answer shows these policies as its statuses have them, because it refuses
   * nothing: {@link Standing#of} would neither sort them nor join any.
   */
  public boolean areAllOf(Answer answer) {
    List<Status> statuses = answer.statuses();
    int count = 0;
    for (int i = 0; i < statuses.size(); i++) {
      Status status = statuses.get(i);
      CurrentLimit limit = status.currentLimit();
      if (!status.allowed()) {
        return false;
      }
      if (limit != null && status.decision() != null) {
        if (count == policies.size() || limit.policy() != policies.get(count)) {
          return false;
        }
        count++;
      }
    }
    return answer.allowed() && count == policies.size();
  }

  /** Returns the value of {@code RateLimit-Policy}. */
  public String rateLimitPolicy() {
    return rateLimitPolicy;
  }
}
