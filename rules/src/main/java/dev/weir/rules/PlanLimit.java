package dev.weir.rules;

import dev.weir.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The limit that a plan sets for one rule. Immutable.
 *
 * @param policy the rule's policy with the plan's number, or null if the plan is unlimited there
 * @param requestsPerUnit the permits per window, 0 to 4294967295; 0 if it is unlimited
 * @param position its position in the file
 */
public record PlanLimit(@Nullable Policy policy, long requestsPerUnit, Position position) {
  /** Returns whether the plan has no limit for the rule. */
  public boolean unlimited() {
    return policy == null;
  }
}
