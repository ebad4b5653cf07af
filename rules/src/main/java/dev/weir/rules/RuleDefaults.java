package dev.weir.rules;

import dev.weir.FailureMode;

/**
 * Settings for rules that do not set them. The operator of a process chooses them; a rule file
 * means the same to {@code weir lint} wherever it is used.
 *
 * @param onFailure the answer while the store cannot decide. A rule that is counted in one process
 *     has no other store to use: {@code LOCAL} is {@code DENY} for it
 * @param localShare the share of its limit that each process then admits by itself, with {@code
 *     LOCAL}: above 0, at most 1
 */
public record RuleDefaults(FailureMode onFailure, double localShare) {
  /** The defaults if no others are chosen: rules deny. */
  public static final RuleDefaults DENY = new RuleDefaults(FailureMode.DENY, 1);

  /**
   * @throws IllegalArgumentException if the share is out of its range
   */
  public RuleDefaults {
    if (!(localShare > 0 && localShare <= 1)) {
      throw new IllegalArgumentException(
          "localShare: " + localShare + " (expected: above 0, at most 1)");
    }
  }

  /** Returns the answer of a rule that is counted in that store. */
  public FailureMode onFailure(StoreChoice store) {
    return store == StoreChoice.LOCAL && onFailure == FailureMode.LOCAL
        ? FailureMode.DENY
        : onFailure;
  }
}
