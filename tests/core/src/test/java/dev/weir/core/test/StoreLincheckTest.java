package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.testkit.Trials;
import java.util.List;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Concurrent operations on one key, under one limit or several and while its rule changes, have the
 * results of some order of them, one after the other.
 */
@Tag("model")
public class StoreLincheckTest {
  private final MemoryStore store = new MemoryStore();
  private final Binding log = store.bind("flapping", policy(Algorithm.SLIDING_WINDOW, 3), 0);
  private final Binding tokens = store.bind("other", policy(Algorithm.TOKEN_BUCKET, 2), 0);

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  @Operation
  public boolean one() {
    return decide(new Charges().add(log, 1, 1));
  }

  @Operation
  public boolean two() {
    return decide(new Charges().add(tokens, 1, 2));
  }

  @Operation
  public boolean both() {
    return decide(new Charges().add(log, 1, 1).add(tokens, 1, 1));
  }

  @Operation
  public boolean bothTheOtherWay() {
    return decide(new Charges().add(tokens, 1, 1).add(log, 1, 1));
  }

  @Operation
  public boolean changeRuleAndAsk() {
    Policy changed = policy(Algorithm.SLIDING_WINDOW_BUCKETS, 2);
    return decide(new Charges().add(store.bind("flapping", changed, 0), 1, 1));
  }

  /** From here on both limits of a key have one slot, unless the rule has changed. */
  @Operation
  public void colocate() {
    store.colocate(List.of(log, tokens));
  }

  @Operation
  public long remaining() {
    Charges charges = new Charges().add(log, 1, 1).peek();
    decide(charges);
    return charges.remaining(0);
  }

  private boolean decide(Charges charges) {
    store.decide(charges, 0, done -> {});
    return charges.allowed();
  }

  @Test
  void interleavings_oneByOne_areLinearizable() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(2)
        .actorsBefore(1)
        .actorsAfter(1)
        .iterations(Trials.unseeded("one key, modelled threads", Trials.runs(1, 1)))
        .invocationsPerIteration(100)
        .check(StoreLincheckTest.class);
  }

  @Test
  void realThreads_areLinearizable() {
    new StressOptions()
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(1)
        .iterations(Trials.unseeded("one key, real threads", Trials.runs(1, 3)))
        .invocationsPerIteration(1_000)
        .check(StoreLincheckTest.class);
  }
}
