package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.Traffic;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;

/** Every algorithm in memory. */
class MemoryStoreAlgorithmsTest {
  private abstract static class InMemory extends AlgorithmContract {
    private final Algorithm algorithm;

    InMemory(Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    protected Store createStore() {
      return new MemoryStore(1 << 20);
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      return Traffic.policy(random, algorithm);
    }

    @Override
    protected Policy policy(Quota quota) {
      return Policy.builder(quota).algorithm(algorithm).build();
    }
  }

  @Nested
  class SlidingWindow extends InMemory {
    SlidingWindow() {
      super(Algorithm.SLIDING_WINDOW);
    }
  }

  @Nested
  class SlidingWindowLog extends InMemory {
    SlidingWindowLog() {
      super(Algorithm.SLIDING_WINDOW_LOG);
    }
  }

  @Nested
  class SlidingWindowBuckets extends InMemory {
    SlidingWindowBuckets() {
      super(Algorithm.SLIDING_WINDOW_BUCKETS);
    }
  }

  @Nested
  class SlidingWindowCounter extends InMemory {
    SlidingWindowCounter() {
      super(Algorithm.SLIDING_WINDOW_COUNTER);
    }
  }

  @Nested
  class FixedWindow extends InMemory {
    FixedWindow() {
      super(Algorithm.FIXED_WINDOW);
    }
  }

  @Nested
  class TokenBucket extends InMemory {
    TokenBucket() {
      super(Algorithm.TOKEN_BUCKET);
    }
  }

  @Nested
  class LeakyBucket extends InMemory {
    LeakyBucket() {
      super(Algorithm.LEAKY_BUCKET);
    }
  }
}
