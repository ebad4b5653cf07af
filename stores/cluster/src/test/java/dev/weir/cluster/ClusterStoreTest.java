package dev.weir.cluster;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.Traffic;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;

/** The contracts of a store, through all parts between it and its replicas. */
class ClusterStoreTest {
  private static final double EFFORT = 0.05;

  @Nested
  class OneGroup extends StoreContract {
    @Override
    protected Store createStore() {
      return LoneCluster.open(1);
    }

    @Override
    protected long resolutionNanos() {
      return LoneCluster.RESOLUTION_NANOS;
    }

    @Override
    protected double effort() {
      return EFFORT;
    }

    @Override
    protected boolean countsState() {
      return false;
    }
  }

  @Nested
  class ChangesOfRules extends RuleChangeContract {
    @Override
    protected Store createStore() {
      return LoneCluster.open(3);
    }

    @Override
    protected long resolutionNanos() {
      return LoneCluster.RESOLUTION_NANOS;
    }

    @Override
    protected double effort() {
      return EFFORT;
    }

    @Override
    protected boolean countsState() {
      return false;
    }

    /**
     * Returns false: the replicas detect too many shapes, and then answer that the key is
     * uncertain.
     */
    @Override
    protected boolean boundsShapes() {
      return false;
    }
  }

  private abstract static class Decided extends AlgorithmContract {
    private final Algorithm algorithm;

    Decided(Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    protected Store createStore() {
      return LoneCluster.open(3);
    }

    @Override
    protected long resolutionNanos() {
      return LoneCluster.RESOLUTION_NANOS;
    }

    @Override
    protected double effort() {
      return EFFORT;
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
  class SlidingWindowLog extends Decided {
    SlidingWindowLog() {
      super(Algorithm.SLIDING_WINDOW_LOG);
    }
  }

  @Nested
  class FixedWindow extends Decided {
    FixedWindow() {
      super(Algorithm.FIXED_WINDOW);
    }
  }
}
