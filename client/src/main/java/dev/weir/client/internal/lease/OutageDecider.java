package dev.weir.client.internal.lease;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.client.internal.wire.Answers;
import dev.weir.client.internal.wire.Messages;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.protocol.v1.WeirProto.OnFailure;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The answers to requests while the service cannot be reached: each descriptor follows the last
 * answer about its rule. Safe for use by many threads.
 */
final class OutageDecider {
  /** The most rules that this process counts by itself; requests for further rules are refused. */
  private static final int MOST_RULES = 4_096;

  /** The part of the heap (an eighth) that the counts in this process may take. */
  private static final int HEAP_PART = 8;

  private record Share(Policy policy, double share) {}

  private record Bound(Share share, Binding binding) {}

  private final Clocks clocks;
  private final boolean allowUnseen;
  private final MemoryStore store =
      new MemoryStore(Keys.MOST, Runtime.getRuntime().maxMemory() / HEAP_PART);

  private final Map<String, Bound> shares = new ConcurrentHashMap<>();

  /**
   * @param unseen for keys about which the service has sent nothing; {@code LOCAL} means {@code
   *     DENY}
   */
  OutageDecider(Clocks clocks, FailureMode unseen) {
    this.clocks = clocks;
    allowUnseen = unseen == FailureMode.ALLOW;
  }

  /** Returns what the client keeps of an answer about a rule. */
  LastAnswer lastAnswer(
      DescriptorLease lease, DescriptorStatus status, @Nullable CurrentLimit limit) {
    OnFailure said = lease.getOnFailure();
    FailureMode mode =
        switch (said) {
          case ON_FAILURE_ALLOW -> FailureMode.ALLOW;
          case ON_FAILURE_LOCAL -> FailureMode.LOCAL;
          case ON_FAILURE_DENY -> FailureMode.DENY;
          // An older service, or one of another kind, does not send it.
          case ON_FAILURE_UNSPECIFIED, UNRECOGNIZED ->
              allowUnseen ? FailureMode.ALLOW : FailureMode.DENY;
        };
    Binding local = null;
    if (mode == FailureMode.LOCAL && limit != null) {
      String name = status.getRule().isEmpty() ? status.getPolicy() : status.getRule();
      local = bind(name, new Share(limit.policy(), lease.getLocalShare()));
    }
    return new LastAnswer(limit, mode, local, lease.getLeased());
  }

  private @Nullable Binding bind(String name, Share share) {
    Bound known = shares.get(name);
    if (known != null && known.share.equals(share)) {
      return known.binding;
    }
    if (known == null && shares.size() >= MOST_RULES) {
      return null;
    }
    Bound made = new Bound(share, store.bind(name, policy(share), clocks.nanos()));
    shares.put(name, made);
    return made.binding;
  }

  /** Returns a policy's share: at least one permit, if the policy has any. */
  private static Policy policy(Share share) {
    Quota quota = share.policy.quota();
    double part = share.share > 0 && share.share <= 1 ? share.share : 1;
    long permits = quota.permits() == 0 ? 0 : Math.max(1, (long) (quota.permits() * part));
    return Policy.builder(new Quota(permits, quota.windowNanos()))
        .name(share.policy.name())
        .algorithm(share.policy.algorithm())
        .build();
  }

  /** Answers a request. */
  Answer answer(Request request, @Nullable Key[] keys, Reason reason, long revision) {
    int size = keys.length;
    long now = clocks.nanos();
    @Nullable Status[] statuses = new Status[size];
    @Nullable Lease[] held = new Lease[size];
    Charges local = new Charges();
    int[] places = new int[size];
    boolean passes = true;
    for (int i = 0; i < size; i++) {
      Descriptor descriptor = request.descriptors().get(i);
      Key key = keys[i];
      long permits = Messages.permits(request, descriptor);
      Denial denial = key == null ? null : key.denial(permits, clocks);
      held[i] = key == null || denial != null || permits == 0 ? null : key.spend(permits, clocks);
      Lease lease = held[i];
      LastAnswer told = key == null ? null : key.lastAnswer();
      Binding counted = told == null ? null : told.local();
      if (key != null && counted != null && denial == null && lease == null) {
        places[local.size()] = i;
        local.add(counted, key.hash, permits);
        continue;
      }
      Status status;
      if (denial != null) {
        status = denial.status(clocks);
      } else {
        status = lease != null ? lease.status() : status(told, reason, now);
      }
      statuses[i] = status;
      passes &= status.allowed();
    }
    passes = count(local, places, statuses, keys, passes, now);
    for (int i = 0; i < size && !passes; i++) {
      Lease lease = held[i];
      boolean unused = lease != null && lease.put(permits(request, i));
    }
    return Answer.of(passes, List.of(whole(statuses)), null, revision);
  }

  private static long permits(Request request, int i) {
    return Messages.permits(request, request.descriptors().get(i));
  }

  private Status status(@Nullable LastAnswer told, Reason reason, long now) {
    if (told == null) {
      return Answers.unknown(allowUnseen, reason, null, now);
    }
    if (told.limit() == null) {
      return new Status(true, null, null, null, 0, 0); // Nothing limits it.
    }
    return Answers.unknown(told.onFailure() == FailureMode.ALLOW, reason, told.limit(), now);
  }

  /**
   * Counts the descriptors whose rule is counted in this process; charges them only if the rest
   * passes.
   */
  private boolean count(
      Charges local,
      int[] places,
      @Nullable Status[] statuses,
      @Nullable Key[] keys,
      boolean restPasses,
      long now) {
    if (local.size() == 0) {
      return restPasses;
    }
    if (!restPasses) {
      local.peek();
    }
    store.decide(local, now);
    for (int j = 0; j < local.size(); j++) {
      Key key = keys[places[j]];
      LastAnswer told = key == null ? null : key.lastAnswer();
      statuses[places[j]] = Answers.of(local.decision(j), told == null ? null : told.limit());
    }
    return restPasses && local.allowed();
  }

  private static Status[] whole(@Nullable Status[] statuses) {
    Status[] whole = new Status[statuses.length];
    for (int i = 0; i < whole.length; i++) {
      Status status = statuses[i];
      if (status == null) {
        throw new IllegalStateException("statuses[" + i + "]: none (expected: one)");
      }
      whole[i] = status;
    }
    return whole;
  }

  /** Removes the expired states. */
  void expire() {
    store.expire(clocks.nanos());
  }
}
