package dev.weir.redis;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;

/** What is answered when Redis does not. */
final class Fallback {
  private Fallback() {}

  /** Returns the policy's share for one process: at least one permit, if it has any. */
  static Policy share(Policy policy) {
    Quota quota = policy.quota();
    Policy.Builder builder =
        Policy.builder(new Quota(share(quota.permits(), policy), quota.windowNanos()))
            .name(policy.name())
            .algorithm(policy.algorithm())
            .granularity(java.time.Duration.ofNanos(policy.granularityNanos()))
            .maxKeys(policy.maxKeys())
            .whenFull(policy.whenFull());
    if (policy.algorithm().bucket()) {
      builder.burst(share(policy.burst(), policy));
    }
    if (policy.alignedToFirstRequest()) {
      builder.alignedToFirstRequest();
    }
    return builder.build();
  }

  private static long share(long permits, Policy policy) {
    return permits == 0 ? 0 : Math.max(1, (long) (permits * policy.localShare()));
  }

  /**
   * Fills in the results of a request that Redis did not decide: each charge as its policy says.
   */
  static void decide(
      Charges charges, Reason reason, MemoryStore store, long nowNanos, long retryNanos) {
    boolean doomed = false;
    boolean invalid = false;
    boolean anyAsked = false;
    boolean anyFits = false;
    boolean anyLocal = false;
    for (int i = 0; i < charges.size(); i++) {
      boolean any = charges.role(i) == Role.ANY;
      anyAsked |= any;
      if (isLocal(charges, i)) {
        anyLocal |= any;
        continue;
      }
      boolean valid = charges.permits(i) >= 0;
      charges.result(
          i, valid ? reason : Reason.INVALID, 0, valid ? retryNanos : Decision.NEVER, 0, nowNanos);
      invalid |= !valid && !any;
      boolean passes = charges.forgiven(i);
      anyFits |= any && passes;
      doomed |= charges.role(i) == Role.REQUIRED && !passes;
    }
    doomed |= (anyAsked && !anyFits && !anyLocal) || invalid;
    boolean fits = local(charges, store, nowNanos, doomed, anyFits);
    charges.allowed(!doomed && fits);
  }

  private static boolean isLocal(Charges charges, int i) {
    return charges.limit(i).policy().onFailure() == FailureAnswer.LOCAL;
  }

  /** Returns how many charges are decided here. */
  static int count(Charges charges) {
    int count = 0;
    for (int i = 0; i < charges.size(); i++) {
      count += isLocal(charges, i) ? 1 : 0;
    }
    return count;
  }

  /** Decides what is to be decided in this process; returns whether it fits. */
  private static boolean local(
      Charges charges, MemoryStore store, long nowNanos, boolean doomed, boolean anyFits) {
    Charges here = new Charges();
    int[] places = new int[charges.size()];
    for (int i = 0; i < charges.size(); i++) {
      if (isLocal(charges, i)) {
        RedisLimit limit = (RedisLimit) charges.limit(i);
        Role role = charges.role(i) == Role.ANY && anyFits ? Role.OPTIONAL : charges.role(i);
        places[here.size()] = i;
        here.add(
            java.util.Objects.requireNonNull(limit.fallback),
            charges.fingerprint(i),
            charges.permits(i),
            role);
      }
    }
    if (here.size() == 0) {
      return true;
    }
    if (doomed || charges.peeking()) {
      here.peek();
    }
    if (charges.queued()) {
      here.maxWait(charges.maxWaitNanos());
    }
    store.decide(here, nowNanos, decided -> {});
    for (int j = 0; j < here.size(); j++) {
      charges.result(
          places[j],
          here.reason(j),
          here.remaining(j),
          here.retryAfterNanos(j),
          here.resetAfterNanos(j),
          here.atNanos(j));
    }
    return here.allowed();
  }
}
