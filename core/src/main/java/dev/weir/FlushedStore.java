package dev.weir;

import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A {@link MemoryStore} that answers when its journal is on the disk. Refusals change nothing, and
 * are answered at once. Safe for use by many threads.
 */
final class FlushedStore extends ForwardingStore<MemoryStore> {
  private final GroupCommit commit;

  FlushedStore(MemoryStore store, GroupCommit commit) {
    super(store);
    this.commit = commit;
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    Check.notNull("done", done);
    delegate.decide(charges, nowNanos);
    boolean changed = !charges.peeking() && (charges.allowed() || charges.anyReports());
    answer(changed, () -> done.accept(charges));
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Check.notNull("done", done);
    delegate.decide(batch, nowNanos);
    boolean anyAllowed = false;
    for (int i = 0; i < batch.size() && !anyAllowed; i++) {
      anyAllowed = batch.allowed(i);
    }
    answer(anyAllowed, () -> done.accept(batch));
  }

  private void answer(boolean changed, Runnable answer) {
    if (changed) {
      commit.after(answer);
    } else {
      answer.run();
    }
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Check.notNull("done", done);
    long given = delegate.refund(binding, fingerprint, permits, charged, nowNanos);
    answer(given > 0, () -> done.accept(given));
  }

  @Override
  public void refundNewest(
      Binding binding, long fingerprint, long permits, long nowNanos, LongConsumer done) {
    Check.notNull("done", done);
    long given = delegate.refundNewest(binding, fingerprint, permits, nowNanos);
    answer(given > 0, () -> done.accept(given));
  }

  @Override
  public void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    Check.notNull("done", done);
    boolean held = delegate.renew(binding, fingerprint, charged, nowNanos);
    answer(held, () -> done.accept(Renewal.of(held)));
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    Check.notNull("done", done);
    boolean used = delegate.reset(binding, fingerprint, nowNanos);
    answer(used, () -> done.accept(used));
  }
}
