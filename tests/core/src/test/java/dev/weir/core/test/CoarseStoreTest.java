package dev.weir.core.test;

import static dev.weir.core.test.CoarseStore.RESOLUTION_NANOS;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.ReservationContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.Traffic;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The suites hold, and send only allowed requests, for a store that counts time in microseconds.
 */
class CoarseStoreTest {
  private static final double EFFORT = 0.25;

  @Nested
  @ParameterizedClass
  @EnumSource(Algorithm.class)
  class Algorithms extends AlgorithmContract {
    private final Algorithm algorithm;

    Algorithms(Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    protected Store createStore() {
      return new CoarseStore();
    }

    @Override
    protected long mostFineNanos() {
      return 1L << 52; // Like a script's numbers: 52 days.
    }

    @Override
    protected long resolutionNanos() {
      return RESOLUTION_NANOS;
    }

    @Override
    protected double effort() {
      return EFFORT;
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      Policy policy;
      do {
        policy = Traffic.policy(random, algorithm, RESOLUTION_NANOS);
      } while (!CoarseStore.exact(policy));
      return policy;
    }

    @Override
    protected Policy policy(Quota quota) {
      return Policy.builder(quota).algorithm(algorithm).build();
    }

    @Override
    protected void verify(Store store) {
      ((CoarseStore) store).verify();
    }
  }

  @Nested
  class Requests extends StoreContract {
    @Override
    protected Store createStore() {
      return new CoarseStore();
    }

    @Override
    protected long resolutionNanos() {
      return RESOLUTION_NANOS;
    }
  }

  @Nested
  class RuleChanges extends RuleChangeContract {
    @Override
    protected Store createStore() {
      return new CoarseStore();
    }

    @Override
    protected long resolutionNanos() {
      return RESOLUTION_NANOS;
    }

    @Override
    protected double effort() {
      return EFFORT;
    }
  }

  /** Runs the contract for a store that is not known to be in this process. */
  @Nested
  class Reservations extends ReservationContract {
    @Override
    protected Store createStore() {
      return new CoarseStore();
    }

    @Override
    protected long resolutionNanos() {
      return RESOLUTION_NANOS;
    }
  }
}
