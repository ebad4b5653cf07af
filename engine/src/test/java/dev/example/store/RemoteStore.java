package dev.example.store;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.Store;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** A remote store against public types only: it answers later, on a thread of its own. */
final class RemoteStore implements Store {
  private record Rule(RemoteStore store, Binding there) implements Binding {
    @Override
    public String name() {
      return there.name();
    }

    @Override
    public Policy policy() {
      return there.policy();
    }
  }

  /** The store at the other end. */
  private final ListStore there = new ListStore(1 << 20);

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread own = new Thread(task, "remote-store");
            own.setDaemon(true);
            return own;
          });

  @Override
  public Fingerprint fingerprint() {
    return there.fingerprint();
  }

  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return new Rule(this, there.bind(name, policy, nowNanos));
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    return new Rule(this, there.variant(own(binding), policy));
  }

  @Override
  public void retire(String name, long nowNanos) {
    there.retire(name, nowNanos);
  }

  private Binding own(Binding binding) {
    if (binding instanceof Rule rule && rule.store() == this) {
      return rule.there();
    }
    throw new IllegalArgumentException("binding: " + binding + " (expected: one of this store)");
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    Charges call = new Charges();
    for (int i = 0; i < charges.size(); i++) {
      call.add(
          own(charges.binding(i)), charges.fingerprint(i), charges.permits(i), charges.role(i));
    }
    if (charges.peeking()) {
      call.peek();
    }
    thread.execute(
        () -> {
          there.decide(call, nowNanos);
          for (int i = 0; i < call.size(); i++) {
            charges.result(
                i,
                call.reason(i),
                call.remaining(i),
                call.retryAfterNanos(i),
                call.resetAfterNanos(i),
                call.atNanos(i));
          }
          charges.settle();
          done.accept(charges);
        });
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Batch call = new Batch(Math.max(1, batch.size())).detailed();
    for (int i = 0; i < batch.size(); i++) {
      call.add(own(batch.binding(i)), batch.fingerprint(i), batch.permits(i));
    }
    thread.execute(
        () -> {
          there.decide(call, nowNanos);
          for (int i = 0; i < call.size(); i++) {
            batch.result(i, call.decision(i), call.remaining(i), call.resetAfterNanos(i));
          }
          done.accept(batch);
        });
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Binding own = own(binding);
    thread.execute(() -> done.accept(there.refund(own, fingerprint, permits, charged, nowNanos)));
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    Binding own = own(binding);
    thread.execute(() -> done.accept(there.reset(own, fingerprint, nowNanos)));
  }

  @Override
  public void expire(long nowNanos) {
    there.expire(nowNanos);
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
