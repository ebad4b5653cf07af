package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.StoreKind;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Algorithms that are decided in a shard: the code in between must not change any answer. */
@ParameterizedClass
@EnumSource(
    value = Algorithm.class,
    names = {"SLIDING_WINDOW_LOG", "FIXED_WINDOW"})
class SharedAlgorithmsTest extends AlgorithmContract {
  SharedAlgorithmsTest(Algorithm algorithm) {
    super(algorithm);
  }

  @Override
  protected StoreKind kind() {
    return SharedStoreTest.KIND.withEffort(0.03);
  }
}
