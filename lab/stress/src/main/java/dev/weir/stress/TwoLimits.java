package dev.weir.stress;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import java.util.List;
import org.openjdk.jcstress.infra.results.ZZZZ_Result;

/** A key with one permit of each of two limits. */
class TwoLimits {
  private static final long KEY = 7;

  private final MemoryStore store = new MemoryStore(1_000, 1 << 20);
  private final Binding log = bind("log", Algorithm.SLIDING_WINDOW_LOG);
  private final Binding bucket = bind("bucket", Algorithm.TOKEN_BUCKET);

  private Binding bind(String name, Algorithm algorithm) {
    return store.bind(name, Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build(), 0);
  }

  /** Requests a permit of both limits. */
  boolean request() {
    return request(log, bucket);
  }

  /** Requests a permit of both limits, in opposite order. */
  boolean requestBackwards() {
    return request(bucket, log);
  }

  private boolean request(Binding first, Binding second) {
    Charges charges = new Charges().add(first, KEY, 1).add(second, KEY, 1);
    store.decide(charges, 0);
    return charges.allowed();
  }

  /** Moves the limits into one slot of the key. */
  void colocate() {
    store.colocate(List.of(log, bucket));
  }

  /** Sets the last two results: whether each limit still has its permit. */
  void requestEach(ZZZZ_Result result) {
    result.r3 = store.decide(log, KEY, 1, 0) >= 0;
    result.r4 = store.decide(bucket, KEY, 1, 0) >= 0;
  }
}
