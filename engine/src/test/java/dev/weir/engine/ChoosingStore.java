package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.rules.StoreChoice;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;

/** Two stores as one: the names of limits choose between them. */
final class ChoosingStore implements Store {
  private final RoutedStore store;
  private final Function<String, StoreChoice> choices;

  ChoosingStore(RoutedStore store, Function<String, StoreChoice> choices) {
    this.store = store;
    this.choices = choices;
  }

  @Override
  public Fingerprint fingerprint() {
    return store.fingerprint();
  }

  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    return store.limit(name, policy, choices.apply(name), nowNanos);
  }

  @Override
  public void retire(String name, long nowNanos) {
    store.retire(name, nowNanos);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    store.expect(charges);
    store.decide(charges, nowNanos, done);
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    store.decide(batch, nowNanos, done);
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    store.refund(limit, fingerprint, permits, charged, nowNanos, done);
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
