package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A store that counts time in microseconds, like one in Redis: one in memory whose answers are
 * rounded. It refuses requests between two microseconds.
 */
final class CoarseStore extends ForwardingStore<MemoryStore> {
  static final long RESOLUTION_NANOS = 1_000;

  CoarseStore() {
    super(new MemoryStore(1 << 20));
  }

  /**
   * Returns whether a policy is counted exactly as by a store of this resolution, so that {@link
   * #coarse} can express it.
   */
  static boolean exact(Policy policy) {
    return !granular(policy)
        || (policy.quota().windowNanos() - RESOLUTION_NANOS >= Quota.MIN_WINDOW_NANOS
            && policy.quota().windowNanos() - RESOLUTION_NANOS >= policy.granularityNanos());
  }

  private static boolean granular(Policy policy) {
    return policy.algorithm() == Algorithm.SLIDING_WINDOW_BUCKETS
        || (policy.algorithm() == Algorithm.SLIDING_WINDOW
            && policy.quota().permits() > Policy.LOG_LIMIT);
  }

  /** Returns the policy that decides in nanoseconds as the given one does in microseconds. */
  private static Policy coarse(Policy policy) {
    Quota quota = policy.quota();
    long window = check("window", quota.windowNanos());
    if (granular(policy) && exact(policy)) {
      // A granule ends with its last instant, and that is a whole step before the next granule's.
      return Policy.builder(new Quota(quota.permits(), window - RESOLUTION_NANOS + 1))
          .algorithm(policy.algorithm())
          .granularity(Duration.ofNanos(check("granule", policy.granularityNanos())))
          .name(policy.name())
          .build();
    }
    if (policy.shape().algorithm() == Algorithm.SLIDING_WINDOW) {
      return Policy.builder(quota)
          .algorithm(Algorithm.SLIDING_WINDOW_LOG)
          .name(policy.name())
          .build();
    }
    if (emissionNanos(policy) % RESOLUTION_NANOS != 0) {
      long emission = emissionNanos(policy);
      if (Math.max(emission * policy.burst(), window) > 1L << 52) {
        return Policy.builder(new Quota(1, ceil(emission)))
            .algorithm(policy.algorithm())
            .burst(policy.burst())
            .name(policy.name())
            .build();
      }
    }
    return policy;
  }

  /** Returns the interval between two permits of a bucket, 0 if there is none. */
  private static long emissionNanos(Policy policy) {
    long permits = policy.quota().permits();
    return !policy.algorithm().bucket() || permits == 0
        ? 0
        : (policy.quota().windowNanos() + permits - 1) / permits;
  }

  private static long check(String name, long nanos) {
    if (Math.floorMod(nanos, RESOLUTION_NANOS) != 0) {
      throw new IllegalArgumentException(name + ": " + nanos + " ns (expected: whole us)");
    }
    return nanos;
  }

  private static long floor(long nanos) {
    return nanos - Math.floorMod(nanos, RESOLUTION_NANOS);
  }

  private static long ceil(long nanos) {
    return nanos == Decision.NEVER ? nanos : nanos + Math.floorMod(-nanos, RESOLUTION_NANOS);
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return delegate.bind(name, coarse(policy), check("now", nowNanos));
  }

  @Override
  public void retire(String name, long nowNanos) {
    delegate.retire(name, check("now", nowNanos));
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    check("maxWait", charges.maxWaitNanos());
    delegate.decide(
        charges,
        check("now", nowNanos),
        decided -> {
          for (int i = 0; i < decided.size(); i++) {
            // A granule's last instant is within its last step, and not the first of the next
            // granule.
            boolean down = granular(decided.binding(i).policy()) && decided.fits(i);
            decided.result(
                i,
                decided.reason(i),
                decided.remaining(i),
                down ? floor(decided.retryAfterNanos(i)) : ceil(decided.retryAfterNanos(i)),
                ceil(decided.resetAfterNanos(i)),
                down ? floor(decided.atNanos(i)) : ceil(decided.atNanos(i)));
          }
          done.accept(decided);
        });
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    throw new UnsupportedOperationException("no suite asks for batches");
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    // A value that was rounded up may be any smaller one: to be safe, the least.
    boolean rounded = emissionNanos(binding.policy()) % RESOLUTION_NANOS != 0;
    long reset = charged.resetAfterNanos() - (rounded ? 2 * (RESOLUTION_NANOS - 1) : 0);
    Decision least =
        new Decision(
            charged.allowed(),
            charged.reason(),
            charged.policy(),
            charged.limit(),
            charged.remaining(),
            charged.retryAfterNanos(),
            reset,
            charged.atNanos());
    delegate.refund(binding, fingerprint, permits, least, check("now", nowNanos), done);
  }

  @Override
  public void expire(long nowNanos) {
    delegate.expire(check("now", nowNanos));
  }

  void verify() {
    delegate.verify();
  }
}
