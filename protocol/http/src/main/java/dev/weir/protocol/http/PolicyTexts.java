package dev.weir.protocol.http;

import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import java.util.List;

/**
 * The text of header fields that is the same in all answers that show the same policies. Immutable.
 */
public final class PolicyTexts {
  private final List<Policy> policies;
  private final String rateLimitPolicy;

  public PolicyTexts(List<Standing> standings) {
    policies = standings.stream().map(Standing::policy).toList();
    rateLimitPolicy = RateLimitFields.rateLimitPolicy(standings);
  }

  /** Returns whether these texts are for the policies of the standings, in their order. */
  public boolean areOf(List<Standing> standings) {
    boolean same = standings.size() == policies.size();
    for (int i = 0; i < standings.size() && same; i++) {
      same = standings.get(i).policy() == policies.get(i);
    }
    return same;
  }

  /**
   * Returns whether an answer refuses nothing and shows these policies in the order of its
   * statuses: then {@link Standing#of} would neither sort nor join them.
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
