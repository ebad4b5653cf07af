package dev.weir.testkit;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Renewal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * A store that decides at once but answers only on demand, the last call first: the worst that a
 * remote store may do. For tests of code that calls a store.
 */
public final class LateStore extends ForwardingStore<MemoryStore> {
  private final Deque<Runnable> answers = new ArrayDeque<>();

  public LateStore() {
    super(new MemoryStore());
  }

  /**
   * Gives the answers that are due now, on the caller's thread. Calls that another thread makes
   * meanwhile wait for the next time.
   *
   * @return how many answers were given
   */
  public int answer() {
    List<Runnable> given = takeDue();
    given.forEach(Runnable::run);
    return given.size();
  }

  /** Returns how many answers are due. */
  public synchronized int due() {
    return answers.size();
  }

  private synchronized List<Runnable> takeDue() {
    List<Runnable> due = new ArrayList<>(answers.size());
    answers.descendingIterator().forEachRemaining(due::add);
    answers.clear();
    return due;
  }

  private synchronized void later(Runnable answer) {
    answers.addLast(answer);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    delegate.decide(charges, nowNanos, decided -> later(() -> done.accept(decided)));
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    delegate.decide(batch, nowNanos, decided -> later(() -> done.accept(decided)));
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    delegate.refund(
        binding,
        fingerprint,
        permits,
        charged,
        nowNanos,
        returned -> later(() -> done.accept(returned)));
  }

  @Override
  public void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    delegate.renew(
        binding, fingerprint, charged, nowNanos, result -> later(() -> done.accept(result)));
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    delegate.reset(binding, fingerprint, nowNanos, known -> later(() -> done.accept(known)));
  }
}
