package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.Traffic;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;

/** Algorithms that are decided in a shard: the code in between must not change any answer. */
class SharedAlgorithmsTest {
  private abstract static class Shared extends AlgorithmContract {
    private final Algorithm algorithm;

    Shared(Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    protected Store createStore() {
      return SharedStoreTest.emptyStore();
    }

    @Override
    protected long resolutionNanos() {
      return Result.NANOS_PER_MICRO;
    }

    @Override
    protected double effort() {
      return 0.03;
    }

    @Override
    protected boolean countsState() {
      return false;
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      return Traffic.policy(random, algorithm, resolutionNanos());
    }

    @Override
    protected Policy policy(Quota quota) {
      return Policy.builder(quota).algorithm(algorithm).build();
    }
  }

  @Nested
  class SlidingWindowLog extends Shared {
    SlidingWindowLog() {
      super(Algorithm.SLIDING_WINDOW_LOG);
    }
  }

  @Nested
  class FixedWindow extends Shared {
    FixedWindow() {
      super(Algorithm.FIXED_WINDOW);
    }
  }
}
