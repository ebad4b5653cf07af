package dev.weir.redis;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What is answered when Redis does not answer: as each policy says, and by a share of its limit in
 * this process where it says so. Safe for use by many threads.
 */
final class Fallback {
  /** When to come back while nobody knows. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  /** Redis's instants are whole microseconds; what is decided here instead is told by this. */
  private static final long MARK_NANOS = 1;

  private final MemoryStore store = new MemoryStore();
  private final Counters counters;

  Fallback(Counters counters) {
    this.counters = counters;
  }

  /** Puts a policy's share in force; null if it has no answer of this process. */
  @Nullable Limit limit(String name, Policy policy, long nowNanos) {
    return policy.onFailure() == FailureAnswer.LOCAL
        ? store.limit(name, share(policy), nowNanos)
        : null;
  }

  /** Returns the policy's share for one process: at least one permit, if it has any. */
  static Policy share(Policy policy) {
    Quota quota = policy.quota();
    Policy.Builder builder =
        Policy.builder(new Quota(share(quota.permits(), policy), quota.windowNanos()))
            .name(policy.name())
            .algorithm(policy.algorithm())
            .maxKeys(policy.maxKeys())
            .whenFull(policy.whenFull());
    if (policy.algorithm().granular()) {
      builder.granularity(Duration.ofNanos(policy.granularityNanos()));
    }
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

  void retire(String name, long nowNanos) {
    store.retire(name, nowNanos);
  }

  /** Answers one charge. */
  void decide(
      RedisLimit limit,
      long fingerprint,
      long permits,
      Failure failure,
      long nowNanos,
      Receiver receiver) {
    Limit local = limit.fallback;
    if (local == null) {
      receiver.decided(reason(failure), 0, RETRY_NANOS, 0, marked(nowNanos));
      return;
    }
    counters.fallback.increment();
    store.decide(
        new Charges().add(local, fingerprint, permits),
        marked(nowNanos),
        decided ->
            receiver.decided(
                decided.reason(0),
                decided.remaining(0),
                decided.retryAfterNanos(0),
                decided.resetAfterNanos(0),
                decided.atNanos(0)));
  }

  /** Fills in the results of a request: each charge as its policy says. */
  void decide(Charges charges, Failure failure, long nowNanos) {
    long now = marked(nowNanos);
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
      Reason reason = valid ? reason(failure) : Reason.INVALID;
      charges.result(i, reason, 0, valid ? RETRY_NANOS : Decision.NEVER, 0, now);
      invalid |= !valid && !any;
      boolean passes = charges.forgiven(i);
      anyFits |= any && passes;
      doomed |= charges.role(i) == Role.REQUIRED && !passes;
    }
    doomed |= (anyAsked && !anyFits && !anyLocal) || invalid;
    boolean fits = local(charges, now, doomed, anyFits);
    charges.allowed(!doomed && fits);
  }

  private static boolean isLocal(Charges charges, int i) {
    return charges.limit(i).policy().onFailure() == FailureAnswer.LOCAL;
  }

  /** Decides what is to be decided in this process; returns whether it fits. */
  private boolean local(Charges charges, long nowNanos, boolean doomed, boolean anyFits) {
    Charges here = new Charges();
    int[] places = new int[charges.size()];
    for (int i = 0; i < charges.size(); i++) {
      if (isLocal(charges, i)) {
        RedisLimit limit = (RedisLimit) charges.limit(i);
        Role role = charges.role(i) == Role.ANY && anyFits ? Role.OPTIONAL : charges.role(i);
        places[here.size()] = i;
        here.add(
            Objects.requireNonNull(limit.fallback),
            charges.fingerprint(i),
            charges.permits(i),
            role);
      }
    }
    if (here.size() == 0) {
      return true;
    }
    counters.fallback.add(here.size());
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

  private static Reason reason(Failure failure) {
    return failure == Failure.OVERLOADED ? Reason.OVERLOADED : Reason.UNCERTAIN;
  }

  private static long marked(long nowNanos) {
    return nowNanos - mark(nowNanos) + MARK_NANOS;
  }

  private static long mark(long nanos) {
    return Math.floorMod(nanos, Result.NANOS_PER_MICRO);
  }

  /** Returns whether a decision was not Redis's. */
  static boolean decided(Decision decision) {
    return mark(decision.atNanos()) != 0;
  }

  /** Gives back what was charged here; what was forgiven was charged nowhere. */
  void refund(
      RedisLimit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Limit local = limit.fallback;
    if (local == null || mark(charged.atNanos()) != MARK_NANOS) {
      done.accept(0);
    } else {
      store.refund(local, fingerprint, permits, charged, marked(nowNanos), done);
    }
  }

  void expire(long nowNanos) {
    store.expire(nowNanos);
  }

  void close() {
    store.close();
  }
}
