package dev.weir.core.test;

import dev.weir.Algorithm;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.StoreKind;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every algorithm in memory. */
@ParameterizedClass
@EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
class MemoryStoreAlgorithmsTest extends AlgorithmContract {
  MemoryStoreAlgorithmsTest(Algorithm algorithm) {
    super(algorithm);
  }

  @Override
  protected StoreKind kind() {
    return MemoryStores.KIND;
  }
}
