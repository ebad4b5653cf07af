package dev.weir.testkit;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that decides at once but answers only when told to, the last question first: what a
 * remote store may do at its worst. For the tests of whoever asks a store.
 */
public final class LateStore extends ForwardingStore<MemoryStore> {
  private final Deque<Runnable> answers = new ArrayDeque<>();

  public LateStore() {
    super(new MemoryStore());
  }

  /**
   * Gives the answers that are due, on the caller's thread.
   *
   * @return how many they were
   */
  public int answer() {
    int given = 0;
    for (Runnable next = poll(); next != null; next = poll()) {
      next.run();
      given++;
    }
    return given;
  }

  /** Returns how many answers are due. */
  public synchronized int due() {
    return answers.size();
  }

  private synchronized @Nullable Runnable poll() {
    return answers.pollLast();
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
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    delegate.refund(
        limit,
        fingerprint,
        permits,
        charged,
        nowNanos,
        returned -> later(() -> done.accept(returned)));
  }
}
