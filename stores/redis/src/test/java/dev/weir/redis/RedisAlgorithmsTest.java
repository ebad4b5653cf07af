package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.Traffic;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Every algorithm in Redis, several at a time: each test mostly waits for answers. */
class RedisAlgorithmsTest {
  @Execution(ExecutionMode.CONCURRENT)
  private abstract static class InRedis extends AlgorithmContract {
    private final Algorithm algorithm;

    InRedis(Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    protected Store createStore() {
      return Redis.emptyStore();
    }

    @Override
    protected long mostFineNanos() {
      return 1L << 52; // 52 days, well within the script's numbers.
    }

    @Override
    protected long resolutionNanos() {
      return Redis.RESOLUTION_NANOS;
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
  class SlidingWindow extends InRedis {
    SlidingWindow() {
      super(Algorithm.SLIDING_WINDOW);
    }
  }

  @Nested
  class SlidingWindowLog extends InRedis {
    SlidingWindowLog() {
      super(Algorithm.SLIDING_WINDOW_LOG);
    }
  }

  @Nested
  class SlidingWindowBuckets extends InRedis {
    SlidingWindowBuckets() {
      super(Algorithm.SLIDING_WINDOW_BUCKETS);
    }
  }

  @Nested
  class SlidingWindowCounter extends InRedis {
    SlidingWindowCounter() {
      super(Algorithm.SLIDING_WINDOW_COUNTER);
    }
  }

  @Nested
  class FixedWindow extends InRedis {
    FixedWindow() {
      super(Algorithm.FIXED_WINDOW);
    }
  }

  @Nested
  class TokenBucket extends InRedis {
    TokenBucket() {
      super(Algorithm.TOKEN_BUCKET);
    }
  }

  @Nested
  class LeakyBucket extends InRedis {
    LeakyBucket() {
      super(Algorithm.LEAKY_BUCKET);
    }
  }
}
