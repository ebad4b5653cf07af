package dev.weir.engine.internal.holds;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.Reason;
import java.util.List;

/**
 * The charge that holds the permits of one descriptor. Immutable.
 *
 * @param seat whether the permits are out until they are given back
 * @param shared whether the store that counts it is one that servers share
 * @param policy the {@linkplain #identity identity} of the policy that charged
 * @param limit as of the decision that charged; so are {@code atNanos} and {@code resetAfterNanos}
 */
public record HeldCharge(
    boolean seat, boolean shared, long policy, long limit, long atNanos, long resetAfterNanos) {
  /** Returns what has to be kept of a decision that charged. */
  public static HeldCharge of(Decision decision, Policy policy, boolean shared) {
    boolean seat = policy.algorithm() == Algorithm.CONCURRENCY;
    return new HeldCharge(
        seat,
        shared,
        identity(policy),
        decision.limit(),
        decision.atNanos(),
        decision.resetAfterNanos());
  }

  /**
   * Returns a number that is the same in all processes for policies by which a permit has the same
   * worth, and is most likely another one for all others.
   */
  public static long identity(Policy policy) {
    if (policy.algorithm() == Algorithm.CONCURRENCY) { // A seat has one name under all holds.
      return Fingerprint.shared().of(policy.name() + '\n' + policy.algorithm());
    }
    return Fingerprint.shared()
        .of(
            policy.name()
                + '\n'
                + policy.quota()
                + '\n'
                + policy.burst()
                + '\n'
                + policy.algorithm()
                + '\n'
                + policy.enforced().burst()
                + '\n'
                + policy.sharing());
  }

  /** Returns the decision that charged, as far as a refund needs it. */
  public Decision decision(Policy now) {
    return new Decision(
        true,
        Reason.WITHIN_LIMIT,
        "",
        now.name(),
        limit,
        0,
        0,
        resetAfterNanos,
        atNanos,
        List.of());
  }
}
