package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Store;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A shared store that is away: it answers by the policies' failure modes. If that is by a share of
 * the limit, permits up to the share fit.
 */
public final class UncertainStore implements Store {
  /** The cause of its results without a decision. */
  public static final String CAUSE = "timeout";

  private record Known(String name, Policy policy, Store store) implements Binding {}

  /** The calls that it received, in words. */
  private final List<String> log;

  public UncertainStore(List<String> log) {
    this.log = log;
  }

  @Override
  public Fingerprint fingerprint() {
    return Fingerprint.shared();
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return new Known(name, policy, this);
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    return new Known(binding.name(), policy, this);
  }

  @Override
  public void retire(String name, long nowNanos) {
    log.add("retire " + name);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    log.add((charges.peeking() ? "peek " : "charge ") + charges.size());
    for (int i = 0; i < charges.size(); i++) {
      Policy policy = charges.binding(i).policy();
      boolean local = policy.sharing().onFailure() == FailureMode.LOCAL;
      double share = policy.sharing().localShare() * policy.quota().permits();
      Reason reason =
          !local
              ? Reason.UNCERTAIN
              : charges.permits(i) <= share ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT;
      charges.result(i, reason, 0, reason == Reason.WITHIN_LIMIT ? 0 : 1_000_000, 0, nowNanos);
      charges.cause(i, local ? "" : CAUSE);
    }
    charges.settle();
    done.accept(charges);
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    for (int i = 0; i < batch.size(); i++) {
      batch.result(i, Reason.UNCERTAIN, 0, 0, 0, nowNanos);
      batch.cause(i, CAUSE);
    }
    done.accept(batch);
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    done.accept(0);
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    done.accept(false);
  }

  @Override
  public void expire(long nowNanos) {}

  @Override
  public void close() {
    log.add("closed");
  }
}
