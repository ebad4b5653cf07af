package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The limits that the algorithms find for a simulated backend of known capacity, under a demand of
 * twice as much. The bands of docs/guarantees.md are the columns of these tables.
 */
@Tag("model")
class AdaptiveSimulationTest {
  /** The bound of the backend's queue for AIMD, which sees no latencies. */
  private static final int QUEUE = 10;

  private static final int SETTLED_SECONDS = 120;

  private final FakeTicker ticker = new FakeTicker(1_000_000_000L);

  private SimulatedBackend backend(
      AdaptiveLimiter.Builder settings, AdaptiveAlgorithm algorithm, int servers) {
    SplittableRandom random = Trials.random("adaptive limit, " + algorithm + " of " + servers);
    AdaptiveLimiter limiter = settings.algorithm(algorithm).ticker(ticker).build();
    SimulatedBackend backend = new SimulatedBackend(ticker, limiter, random);
    backend.serve(servers);
    if (algorithm == AdaptiveAlgorithm.AIMD) {
      backend.longestQueue = QUEUE;
    }
    return backend;
  }

  private static void assertSettled(SimulatedBackend backend, double least, double most) {
    backend.run(SETTLED_SECONDS);
    backend.run(SETTLED_SECONDS);
    assertThat(backend.averageLimit()).as("average limit").isBetween(least, most);
    assertThat(backend.utilization()).as("utilization").isGreaterThan(0.95);
  }

  @ParameterizedTest
  @CsvSource({
    // The least and the most of the average limit.
    "GRADIENT,  10, 15, 27", "GRADIENT,  50, 75, 105", "GRADIENT, 200, 300, 400",
    "VEGAS,     10, 12, 20", "VEGAS,     50, 54,  65", "VEGAS,    200, 205, 225",
    "AIMD,      10, 16, 21", "AIMD,      50, 54,  61", "AIMD,     200, 188, 211",
  })
  void demandBeyondCapacity_settlesInTheBand(
      AdaptiveAlgorithm algorithm, int servers, double least, double most) {
    SimulatedBackend backend = backend(AdaptiveLimiter.builder(), algorithm, servers);
    assertSettled(backend, least, most);
  }

  @ParameterizedTest
  @CsvSource({"GRADIENT, 37, 60, 75, 105", "VEGAS, 28, 40, 54, 65", "AIMD, 31, 36, 54, 61"})
  void capacityHalved_fallsAndRisesAgain(
      AdaptiveAlgorithm algorithm, double leastHalf, double mostHalf, double least, double most) {
    SimulatedBackend backend = backend(AdaptiveLimiter.builder(), algorithm, 50);
    assertSettled(backend, least, most);
    backend.serve(25);
    assertSettled(backend, leastHalf, mostHalf);
    backend.serve(50);
    assertSettled(backend, least, most);
  }

  @ParameterizedTest
  @CsvSource({"GRADIENT, 75, 105", "VEGAS, 54, 65", "AIMD, 54, 61"})
  void serviceThreeTimesSlower_settlesInTheSameBand(
      AdaptiveAlgorithm algorithm, double least, double most) {
    SimulatedBackend backend = backend(AdaptiveLimiter.builder(), algorithm, 50);
    assertSettled(backend, least, most);
    backend.serviceNanos *= 3; // The capacity in flight is the number of servers, as before.
    backend.serve(50);
    backend.run(SETTLED_SECONDS);
    assertSettled(backend, least, most);
    backend.serviceNanos /= 3;
    backend.serve(50);
    assertSettled(backend, least, most);
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void floorAboveCapacity_isHeld(AdaptiveAlgorithm algorithm) {
    SimulatedBackend backend =
        backend(AdaptiveLimiter.builder().floor(80).initial(100), algorithm, 25);
    backend.run(SETTLED_SECONDS);
    assertThat(backend.least).isEqualTo(80); // It may grow: no latency without a queue is seen.
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void ceilingBelowCapacity_isHeld(AdaptiveAlgorithm algorithm) {
    SimulatedBackend backend = backend(AdaptiveLimiter.builder().ceiling(30), algorithm, 50);
    backend.run(SETTLED_SECONDS);
    backend.run(SETTLED_SECONDS);
    assertThat(backend.most).isEqualTo(30);
    assertThat(backend.averageLimit()).isBetween(28.0, 30.0);
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void littleDemand_changesNothing(AdaptiveAlgorithm algorithm) {
    SimulatedBackend backend = backend(AdaptiveLimiter.builder().initial(200), algorithm, 50);
    backend.arrivalsPerSecond = 1_000; // 20 in flight on average.
    backend.run(SETTLED_SECONDS);
    assertThat(backend.least).isEqualTo(200);
    assertThat(backend.most).isEqualTo(200);
    assertThat(backend.done).isGreaterThan(backend.arrived - 100);
  }
}
