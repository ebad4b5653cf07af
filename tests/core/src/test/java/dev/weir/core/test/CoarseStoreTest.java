package dev.weir.core.test;

import static dev.weir.core.test.CoarseStore.RESOLUTION_NANOS;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.ReservationContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The suites hold, and send only allowed requests, for a store that counts time in microseconds.
 */
class CoarseStoreTest {
  private static final double EFFORT = 0.25;

  /** The kind of store; like a script's numbers, it counts 52 days in nanoseconds. */
  private static final StoreKind KIND =
      StoreKind.of(CoarseStore::new)
          .withCheck(CoarseStore.class, CoarseStore::verify)
          .withTime(RESOLUTION_NANOS, 1L << 52)
          .exactly();

  @Nested
  @ParameterizedClass
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  class Algorithms extends AlgorithmContract {
    Algorithms(Algorithm algorithm) {
      super(algorithm);
    }

    @Override
    protected StoreKind kind() {
      return KIND.withEffort(EFFORT);
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      Policy policy;
      do {
        policy = super.randomPolicy(random);
      } while (!CoarseStore.exact(policy));
      return policy;
    }
  }

  @Nested
  class Requests extends StoreContract {
    @Override
    protected StoreKind kind() {
      return KIND;
    }
  }

  @Nested
  class RuleChanges extends RuleChangeContract {
    @Override
    protected StoreKind kind() {
      return KIND.withEffort(EFFORT);
    }
  }

  /** Runs the contract for a store that is not known to be in this process. */
  @Nested
  class Reservations extends ReservationContract {
    @Override
    protected StoreKind kind() {
      return KIND;
    }
  }
}
