package dev.weir;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A store that forwards everything to another one. A store that differs from another in a few
 * respects extends it and overrides those methods. It is as safe for use by many threads as the
 * other store.
 *
 * @param <S> the other's type
 */
public abstract class ForwardingStore<S extends Store> implements Store {
  /** The store to which everything goes that is not overridden. */
  protected final S delegate;

  protected ForwardingStore(S delegate) {
    this.delegate = delegate;
  }

  @Override
  public Fingerprint fingerprint() {
    return delegate.fingerprint();
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return delegate.bind(name, policy, nowNanos);
  }

  @Override
  public void colocate(List<Binding> bindings) {
    if (bindings.stream().allMatch(delegate::owns)) { // A subclass may have others of its own.
      delegate.colocate(bindings);
    }
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    return delegate.variant(binding, policy);
  }

  @Override
  public boolean owns(Binding binding) {
    return delegate.owns(binding);
  }

  @Override
  public String shownKey(Binding binding, long fingerprint) {
    return delegate.shownKey(binding, fingerprint);
  }

  @Override
  public boolean countsLent() {
    return delegate.countsLent();
  }

  @Override
  public void retire(String name, long nowNanos) {
    delegate.retire(name, nowNanos);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    delegate.decide(charges, nowNanos, done);
  }

  @Override
  public void expect(Charges[] requests, int count) {
    delegate.expect(requests, count);
  }

  @Override
  public void together(Runnable asks) {
    delegate.together(asks);
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    delegate.decide(batch, nowNanos, done);
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    delegate.refund(binding, fingerprint, permits, charged, nowNanos, done);
  }

  @Override
  public void refundNewest(
      Binding binding, long fingerprint, long permits, long nowNanos, LongConsumer done) {
    delegate.refundNewest(binding, fingerprint, permits, nowNanos, done);
  }

  @Override
  public void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    delegate.renew(binding, fingerprint, charged, nowNanos, done);
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    delegate.reset(binding, fingerprint, nowNanos, done);
  }

  @Override
  public void expire(long nowNanos) {
    delegate.expire(nowNanos);
  }

  @Override
  public long keys() {
    return delegate.keys();
  }

  @Override
  public long maxKeys() {
    return delegate.maxKeys();
  }

  @Override
  public long bytes() {
    return delegate.bytes();
  }

  @Override
  public long maxBytes() {
    return delegate.maxBytes();
  }

  @Override
  public int fullPercent() {
    return delegate.fullPercent();
  }

  @Override
  public void close() {
    delegate.close();
  }
}
