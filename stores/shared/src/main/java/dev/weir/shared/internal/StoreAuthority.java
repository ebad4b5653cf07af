package dev.weir.shared.internal;

import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.function.Consumer;

/**
 * An authority that lets the store decide each time, except where the store would only repeat a
 * refusal. Safe for use by many threads.
 */
public final class StoreAuthority implements LocalAuthority {
  /**
   * The longest time for which a refusal may be repeated after another process has ended its
   * reason.
   */
  public static final long MOST_REMEMBERED_NANOS = 100_000_000L;

  private final Clocks clocks;
  private final Refusals refusals;
  private final Consumer<? super Operation> store;
  private volatile long sweepAtNanos;

  /** True once refusals would not be dropped any more. */
  private volatile boolean closed;

  public StoreAuthority(
      Clocks clocks, Counters counters, HeldKeys held, Consumer<? super Operation> store) {
    this.clocks = clocks;
    this.store = store;
    refusals = new Refusals(clocks, counters, held, MOST_REMEMBERED_NANOS);
    sweepAtNanos = clocks.nanos() + MOST_REMEMBERED_NANOS;
  }

  @Override
  public void decide(
      SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback) {
    if (closed) {
      store.accept(new DecideOne(binding, fingerprint, permits, 1, callback));
      return;
    }
    Result refusal = refusals.recall(fingerprint, permits);
    if (refusal != null) {
      callback.decided(0, refusal, refusal.remaining());
      return;
    }
    Clocks.Instant askedAt = clocks.now();
    DecideOne.Callback remembering =
        new DecideOne.Callback() {
          @Override
          public void decided(long times, Result result, long remaining) {
            refusals.add(fingerprint, permits, result, askedAt);
            callback.decided(times, result, remaining);
          }

          @Override
          public void failed(Failure failure) {
            callback.failed(failure);
          }
        };
    store.accept(new DecideOne(binding, fingerprint, permits, 1, remembering));
  }

  @Override
  public long refund(long fingerprint, long permits, long atNanos) {
    return NOT_HERE;
  }

  @Override
  public void forgetRefusal(long fingerprint) {
    refusals.forget(fingerprint);
  }

  @Override
  public void reset(long fingerprint) {
    refusals.forget(fingerprint);
  }

  @Override
  public void tick(SharedBinding binding) {
    long now = clocks.nanos();
    if (now - sweepAtNanos >= 0) {
      sweepAtNanos = now + MOST_REMEMBERED_NANOS;
      refusals.sweep();
    }
  }

  @Override
  public boolean idle() {
    return refusals.isEmpty();
  }

  @Override
  public boolean closed() {
    return closed;
  }

  @Override
  public void close(SharedBinding binding) {
    closed = true;
    refusals.close();
  }
}
