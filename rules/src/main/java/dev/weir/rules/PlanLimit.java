package dev.weir.rules;

import dev.weir.Policy;
import org.jspecify.annotations.Nullable;

/**
 * What a plan says for one rule. Immutable.
 *
 * @param policy the rule's policy with the plan's number, or null if the plan is unlimited there
 * @param requestsPerUnit the permits per window, 0 to 4294967295; 0 if it is unlimited
 * @param position where it stands
 */
public record PlanLimit(@Nullable Policy policy, long requestsPerUnit, Position position) {
  /** Returns whether the plan has no limit there. */
  public boolean unlimited() {
    return policy == null;
  }
}
