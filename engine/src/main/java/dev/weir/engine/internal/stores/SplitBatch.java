package dev.weir.engine.internal.stores;

import dev.weir.Batch;
import dev.weir.Store;
import dev.weir.engine.RoutedStore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A batch with requests for both stores of a {@link RoutedStore}: one batch for each store, both
 * sent at once. The store that answers last completes the whole.
 */
public final class SplitBatch {
  /** The initial capacity. */
  private static final int CAPACITY = 16;

  private final Store first;
  private final Batch whole;
  private final Batch inFirst;
  private final Batch inSecond;

  private SplitBatch(Store first, Batch whole) {
    this.first = first;
    this.whole = whole;
    inFirst = new Batch(CAPACITY).detailed();
    inSecond = new Batch(CAPACITY).detailed();
    for (int i = 0; i < whole.size(); i++) {
      part(i).add(whole.binding(i), whole.fingerprint(i), whole.permits(i));
    }
  }

  private Batch part(int i) {
    return first.owns(whole.binding(i)) ? inFirst : inSecond;
  }

  /**
   * Decides the batch.
   *
   * @param second the store of every binding that the first does not own
   */
  public static void decide(
      Store first, Store second, Batch whole, long nowNanos, Consumer<? super Batch> done) {
    SplitBatch split = new SplitBatch(first, whole);
    AtomicInteger missing = new AtomicInteger(2);
    Consumer<Batch> answered =
        part -> {
          if (missing.decrementAndGet() == 0) {
            split.join();
            done.accept(whole);
          }
        };
    first.decide(split.inFirst, nowNanos, answered);
    second.decide(split.inSecond, nowNanos, answered);
  }

  private void join() {
    int nextInFirst = 0;
    int nextInSecond = 0;
    for (int i = 0; i < whole.size(); i++) {
      Batch part = part(i);
      int place = part == inFirst ? nextInFirst++ : nextInSecond++;
      whole.result(i, part.decision(place), part.remaining(place), part.resetAfterNanos(place));
      whole.cause(i, part.cause(place));
    }
  }
}
