package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.FullMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Trials;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Concurrent operations on keys that collide in one segment, while it grows and forgets, have the
 * results of some order of them, one after the other.
 */
@Tag("model")
@Param(name = "key", gen = IntGen.class, conf = "1:6")
public class TablesLincheckTest {
  private static final long SECOND = 1_000_000_000L;

  private final MemoryStore store = new MemoryStore(12);
  private final Binding tokens = limit(Algorithm.TOKEN_BUCKET);
  private final Binding counter = limit(Algorithm.SLIDING_WINDOW_COUNTER);
  private final Binding fixed = limit(Algorithm.FIXED_WINDOW);
  private final Binding log = limit(Algorithm.SLIDING_WINDOW_LOG);
  private final Binding buckets = limit(Algorithm.SLIDING_WINDOW_BUCKETS);

  private Binding limit(Algorithm algorithm) {
    Policy policy =
        Policy.builder(Quota.perSecond(2)).algorithm(algorithm).whenFull(FullMode.SKETCH).build();
    return store.bind(algorithm.text(), policy, 0);
  }

  /** Returns fingerprints that begin alike and have one home: each is found behind the others. */
  private static long fingerprint(int key) {
    return 7L << 60 | key;
  }

  private long decide(Binding binding, int key) {
    return store.decide(binding, fingerprint(key), 1, 0);
  }

  @Operation
  public long token(@Param(name = "key") int key) {
    return decide(tokens, key);
  }

  @Operation
  public long counted(@Param(name = "key") int key) {
    return decide(counter, key);
  }

  @Operation
  public long inFixedWindow(@Param(name = "key") int key) {
    return decide(fixed, key);
  }

  @Operation
  public long logged(@Param(name = "key") int key) {
    return decide(log, key);
  }

  @Operation
  public long inBucket(@Param(name = "key") int key) {
    return decide(buckets, key);
  }

  /**
   * Decides a batch, whose requests are decided one after the other, with others possibly in
   * between.
   */
  @Operation
  public long batch(@Param(name = "key") int key) {
    Batch batch = new Batch(1).add(tokens, fingerprint(key), 1);
    store.decide(batch, 0, done -> {});
    return batch.decision(0);
  }

  /** Expires at a time when no key has reset: every slot is examined and kept. */
  @Operation
  public void expire() {
    store.expire(0);
  }

  /**
   * Decides long after the other requests: the key and all others that have reset are forgotten.
   */
  @Operation
  public boolean later(@Param(name = "key") int key) {
    return store.decide(tokens, fingerprint(key + 10), 1, 100 * SECOND) >= 0;
  }

  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(2)
        .iterations(Trials.unseeded("tables, modelled threads", Trials.runs(1, 1)))
        .invocationsPerIteration(200)
        .check(TablesLincheckTest.class);
  }

  @Tag("sample")
  @Test
  void realThreads_areLinearizable() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(2)
        .iterations(Trials.unseeded("tables, real threads", Trials.runs(2, 4)))
        .invocationsPerIteration(1_000)
        .check(TablesLincheckTest.class);
  }
}
