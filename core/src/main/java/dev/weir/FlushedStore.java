package dev.weir;

import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A {@link MemoryStore} that answers when its journal is on the disk. Refusals change nothing, and
 * are answered at once. Safe for use by many threads.
 */
final class FlushedStore implements Store {
  private final MemoryStore store;
  private final GroupCommit commit;

  FlushedStore(MemoryStore store, GroupCommit commit) {
    this.store = store;
    this.commit = commit;
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    Check.notNull("done", done);
    store.decide(charges, nowNanos);
    answer(charges.allowed() && !charges.peeking(), () -> done.accept(charges));
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Check.notNull("done", done);
    store.decide(batch, nowNanos);
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
    long given = store.refund(binding, fingerprint, permits, charged, nowNanos);
    answer(given > 0, () -> done.accept(given));
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    Check.notNull("done", done);
    boolean used = store.reset(binding, fingerprint, nowNanos);
    answer(used, () -> done.accept(used));
  }

  @Override
  public Fingerprint fingerprint() {
    return store.fingerprint();
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return store.bind(name, policy, nowNanos);
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    return store.variant(binding, policy);
  }

  @Override
  public void retire(String name, long nowNanos) {
    store.retire(name, nowNanos);
  }

  @Override
  public boolean owns(Binding binding) {
    return store.owns(binding);
  }

  @Override
  public void expire(long nowNanos) {
    store.expire(nowNanos);
  }

  @Override
  public long keys() {
    return store.keys();
  }

  @Override
  public long maxKeys() {
    return store.maxKeys();
  }

  @Override
  public long bytes() {
    return store.bytes();
  }

  @Override
  public long maxBytes() {
    return store.maxBytes();
  }

  @Override
  public void close() {
    store.close();
  }
}
