package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Store;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A shared store that is away: it answers as policies say. Where that is by a share of the limit,
 * whatever is not more than the share fits.
 */
final class UncertainStore implements Store {
  private record Known(String name, Policy policy) implements Limit {}

  /** What it was asked, in words. */
  private final List<String> log;

  UncertainStore(List<String> log) {
    this.log = log;
  }

  @Override
  public Fingerprint fingerprint() {
    return Fingerprint.shared();
  }

  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    return new Known(name, policy);
  }

  @Override
  public void retire(String name, long nowNanos) {
    log.add("retire " + name);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    log.add((charges.peeking() ? "peek " : "charge ") + charges.size());
    boolean required = true;
    boolean asked = false;
    boolean any = false;
    for (int i = 0; i < charges.size(); i++) {
      Policy policy = charges.limit(i).policy();
      boolean local = policy.onFailure() == FailureAnswer.LOCAL;
      double share = policy.localShare() * policy.quota().permits();
      Reason reason =
          !local
              ? Reason.UNCERTAIN
              : charges.permits(i) <= share ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT;
      charges.result(i, reason, 0, reason == Reason.WITHIN_LIMIT ? 0 : 1_000_000, 0, nowNanos);
      boolean passes = charges.fits(i) || charges.forgiven(i);
      required &= charges.role(i) != Charges.Role.REQUIRED || passes;
      asked |= charges.role(i) == Charges.Role.ANY;
      any |= charges.role(i) == Charges.Role.ANY && passes;
    }
    charges.allowed(required && (any || !asked));
    done.accept(charges);
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    for (int i = 0; i < batch.size(); i++) {
      batch.result(i, Reason.UNCERTAIN, 0, 0, 0, nowNanos);
    }
    done.accept(batch);
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    done.accept(0);
  }

  @Override
  public void expire(long nowNanos) {}

  @Override
  public long keys() {
    return 0;
  }

  @Override
  public long maxKeys() {
    return Long.MAX_VALUE;
  }

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public long maxBytes() {
    return Long.MAX_VALUE;
  }

  @Override
  public void close() {
    log.add("closed");
  }
}
