package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.StoreKind;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every algorithm in Redis, several at a time: each test mostly waits for answers. */
@Execution(ExecutionMode.CONCURRENT)
@ParameterizedClass
@EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
class RedisAlgorithmsTest extends AlgorithmContract {
  RedisAlgorithmsTest(Algorithm algorithm) {
    super(algorithm);
  }

  @Override
  protected StoreKind kind() {
    return Redis.KIND.withEffort(0.03);
  }
}
