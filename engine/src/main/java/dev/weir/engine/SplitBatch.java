package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Store;
import java.util.function.Consumer;

/** A batch with requests for both stores of a {@link RoutedStore}: one batch for each. */
final class SplitBatch {
  /** To begin with. */
  private static final int CAPACITY = 16;

  private final MemoryStore local;
  private final Batch whole;
  private final Batch here;
  private final Batch there;

  private SplitBatch(MemoryStore local, Batch whole) {
    this.local = local;
    this.whole = whole;
    here = new Batch(CAPACITY).detailed();
    there = new Batch(CAPACITY).detailed();
    for (int i = 0; i < whole.size(); i++) {
      part(i).add(whole.limit(i), whole.fingerprint(i), whole.permits(i));
    }
  }

  private Batch part(int i) {
    return local.owns(whole.limit(i)) ? here : there;
  }

  static void decide(
      MemoryStore local, Store shared, Batch whole, long nowNanos, Consumer<? super Batch> done) {
    SplitBatch split = new SplitBatch(local, whole);
    local.decide(split.here, nowNanos, decided -> {});
    shared.decide(
        split.there,
        nowNanos,
        decided -> {
          split.join();
          done.accept(whole);
        });
  }

  private void join() {
    int nextHere = 0;
    int nextThere = 0;
    for (int i = 0; i < whole.size(); i++) {
      Batch part = part(i);
      int at = part == here ? nextHere++ : nextThere++;
      long packed = part.decision(at);
      whole.result(
          i,
          PackedDecision.reason(packed),
          part.remaining(at),
          PackedDecision.retryAfterNanos(packed),
          part.resetAfterNanos(at),
          0);
      whole.decision(i, packed);
    }
  }
}
