package dev.weir.cluster;

import dev.weir.Algorithm;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.SeatContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The contracts of a store, through all parts between it and its replicas. */
class ClusterStoreTest {
  @Nested
  class OneGroup extends StoreContract {
    @Override
    protected StoreKind kind() {
      return LoneCluster.kind(1);
    }
  }

  @Nested
  class Seats extends SeatContract {
    @Override
    protected StoreKind kind() {
      return LoneCluster.kind(3);
    }

    @Override
    protected boolean refundsNewest() {
      return false;
    }
  }

  @Nested
  class ChangesOfRules extends RuleChangeContract {
    @Override
    protected StoreKind kind() {
      return LoneCluster.kind(3);
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

  @Nested
  @ParameterizedClass
  @EnumSource(
      value = Algorithm.class,
      names = {"SLIDING_WINDOW_LOG", "FIXED_WINDOW"})
  class Algorithms extends AlgorithmContract {
    Algorithms(Algorithm algorithm) {
      super(algorithm);
    }

    @Override
    protected StoreKind kind() {
      return LoneCluster.kind(3);
    }
  }
}
