package dev.weir.shared.internal;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The results while the store does not answer. A policy whose failure mode is {@code local} is
 * decided by a share of its limit in this process. All other charges are left without a decision,
 * with the kind of failure as the cause; {@link Charges#settle} then refuses or allows them by
 * their failure modes. Safe for use by many threads.
 */
public final class FailureDecisions {
  /** The retry-after of an uncertain decision. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  /** The store's instants are whole microseconds; this marks those of decisions made here. */
  private static final long MARK_NANOS = 1;

  /** The largest part of the heap for counts in this process: a quarter. */
  private static final int HEAP_PART = 4;

  private final MemoryStore store =
      new MemoryStore(MemoryStore.DEFAULT_MAX_KEYS, Runtime.getRuntime().maxMemory() / HEAP_PART);

  private final Counters counters;

  public FailureDecisions(Counters counters) {
    this.counters = counters;
  }

  /** Puts a policy's share in force; returns null if its failure mode is not local. */
  @Nullable
  public Binding bind(String name, Policy policy, long nowNanos) {
    return policy.sharing().onFailure() == FailureMode.LOCAL
        ? store.bind(name, share(policy), nowNanos)
        : null;
  }

  /** Returns the share of a variant of a binding; null if it has none. */
  @Nullable
  public Binding variant(SharedBinding binding, Policy policy) {
    Binding local = binding.localShare;
    return local != null && policy.sharing().onFailure() == FailureMode.LOCAL
        ? store.variant(local, share(policy))
        : null;
  }

  /** Resets a key in this process; returns whether it had a state. */
  public boolean reset(SharedBinding binding, long fingerprint, long nowNanos) {
    Binding local = binding.localShare;
    return local != null && store.reset(local, fingerprint, marked(nowNanos));
  }

  /** Returns the policy with its share for one process: at least one permit, if it has any. */
  static Policy share(Policy policy) {
    Quota quota = policy.quota();
    Policy.Builder builder =
        Policy.builder(new Quota(share(quota.permits(), policy), quota.windowNanos()))
            .name(policy.name())
            .algorithm(policy.shape().algorithm()) // Not chosen again by size.
            .maxKeys(policy.maxKeys())
            .whenFull(policy.whenFull());
    if (policy.shape().algorithm().granular()) {
      builder.granularity(Duration.ofNanos(policy.granularityNanos()));
    }
    if (policy.algorithm().bucket()) {
      builder.burst(share(policy.burst(), policy));
    }
    return builder.build();
  }

  private static long share(long permits, Policy policy) {
    return permits == 0 ? 0 : Math.max(1, (long) (permits * policy.sharing().localShare()));
  }

  public void retire(String name, long nowNanos) {
    store.retire(name, nowNanos);
  }

  /** Decides one charge. */
  public void decide(
      SharedBinding binding,
      long fingerprint,
      long permits,
      Failure failure,
      long nowNanos,
      Consumer<Result> done) {
    Binding local = binding.localShare;
    if (local == null) {
      done.accept(Result.failed(failure, RETRY_NANOS, marked(nowNanos)));
      return;
    }
    counters.onFailureLocal.increment();
    store.decide(
        new Charges().add(local, fingerprint, permits),
        marked(nowNanos),
        decided ->
            done.accept(
                new Result(
                    decided.reason(0),
                    decided.remaining(0),
                    decided.retryAfterNanos(0),
                    decided.resetAfterNanos(0),
                    decided.atNanos(0))));
  }

  /** Fills in the results of a request, and settles it. */
  public void decide(Charges charges, Failure failure, long nowNanos) {
    long now = marked(nowNanos);
    Charges local = new Charges();
    int[] places = new int[charges.size()];
    for (int i = 0; i < charges.size(); i++) {
      SharedBinding binding = (SharedBinding) charges.binding(i);
      if (binding.localShare != null && charges.permits(i) >= 0) {
        places[local.size()] = i;
        local.add(binding.localShare, charges.fingerprint(i), charges.permits(i), charges.role(i));
      } else if (charges.permits(i) >= 0) {
        Result.failed(failure, RETRY_NANOS, now).to(charges, i);
      } else {
        charges.result(i, Reason.INVALID, 0, Decision.NEVER, 0, now);
      }
    }
    if (local.size() > 0) {
      counters.onFailureLocal.add(local.size());
      locally(charges, local, places, now);
    }
    charges.settle();
  }

  /** Decides the charges with a local share, and charges them if the whole request passes. */
  private void locally(Charges charges, Charges local, int[] places, long nowNanos) {
    if (charges.queued()) {
      local.maxWait(charges.maxWaitNanos());
    }
    boolean mixed = local.size() < charges.size();
    boolean refused = mixed && !charges.peeking() && !passes(charges, local, places, nowNanos);
    if (charges.peeking() || refused) {
      local.peek();
    }
    if (anyForgiven(charges)) {
      for (int j = 0; j < local.size(); j++) {
        if (local.role(j) == Role.ANY) {
          local.role(j, Role.OPTIONAL); // Another one passes: these need not.
        }
      }
    }
    store.decide(local, nowNanos);
    fill(charges, local, places);
    if (refused && local.anyReports()) {
      count(charges, local, places, nowNanos);
    }
  }

  /** Counts the reports of a request that is refused. */
  private void count(Charges charges, Charges local, int[] places, long nowNanos) {
    Charges report = new Charges();
    for (int j = 0; j < local.size(); j++) {
      if (local.role(j).isReport()) {
        report.clear().add(local.binding(j), local.fingerprint(j), local.permits(j), local.role(j));
        store.decide(report, nowNanos);
        charges.result(places[j], report, 0);
      }
    }
  }

  /** Returns whether a charge of role ANY passes by its failure mode, without a decision. */
  private static boolean anyForgiven(Charges charges) {
    for (int i = 0; i < charges.size(); i++) {
      boolean elsewhere = ((SharedBinding) charges.binding(i)).localShare == null;
      if (elsewhere && charges.role(i) == Role.ANY && charges.forgiven(i)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the whole request would pass now; charges nothing. */
  private boolean passes(Charges charges, Charges local, int[] places, long nowNanos) {
    Charges looking = new Charges();
    for (int j = 0; j < local.size(); j++) {
      looking.add(local.binding(j), local.fingerprint(j), local.permits(j), local.role(j));
    }
    store.decide(looking.peek(), nowNanos);
    fill(charges, looking, places);
    return charges.settle();
  }

  private static void fill(Charges charges, Charges local, int[] places) {
    for (int j = 0; j < local.size(); j++) {
      charges.result(places[j], local, j);
    }
  }

  private static long marked(long nowNanos) {
    return nowNanos - mark(nowNanos) + MARK_NANOS;
  }

  private static long mark(long nanos) {
    return Math.floorMod(nanos, Result.NANOS_PER_MICRO);
  }

  /** Returns whether a decision was made here, not by the store, which may mark seats as well. */
  public static boolean decided(SharedBinding binding, Decision decision) {
    long mark = mark(decision.atNanos());
    boolean seat = binding.policy().algorithm() == Algorithm.CONCURRENCY;
    return seat ? mark == MARK_NANOS : mark != 0;
  }

  /**
   * Gives back permits that were charged here; permits admitted by a failure mode were charged
   * nowhere.
   */
  public void refund(
      SharedBinding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Binding local = binding.localShare;
    if (local == null || mark(charged.atNanos()) != MARK_NANOS) {
      done.accept(0);
    } else {
      store.refund(local, fingerprint, permits, charged, marked(nowNanos), done);
    }
  }

  /** Renews a seat that was taken here. */
  public Renewal renew(SharedBinding binding, long fingerprint, Decision charged, long nowNanos) {
    Binding local = binding.localShare;
    return local != null && store.renew(local, fingerprint, charged, marked(nowNanos))
        ? Renewal.RENEWED
        : Renewal.LOST;
  }

  public void expire(long nowNanos) {
    store.expire(nowNanos);
  }

  public void close() {
    store.close();
  }
}
