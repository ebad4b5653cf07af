package dev.weir.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.testkit.Trials;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Thousands of faults in virtual time, on the real code: whatever crashes, stops, is cut off, comes
 * late or shows a wrong time, no limit is exceeded.
 *
 * <p>{@code -Dweir.seed} repeats one run; a run that fails prints its seed.
 */
class ClusterSimulationTest {
  private static final long MOST_NANOS = 40_000_000_000L;

  @Test
  void anyFaults_exceedNoLimit() {
    if (Long.getLong(Trials.SEED_PROPERTY) != null) {
      System.out.println(check(Trials.SEED));
      return;
    }
    Map<String, Long> counts = new TreeMap<>();
    SplittableRandom seeds = Trials.random("cluster simulation");
    long begun = Ticker.system().nanos();
    int runs = 0;
    for (; Ticker.system().nanos() - begun < MOST_NANOS; runs++) {
      check(seeds.nextLong()).forEach((what, times) -> counts.merge(what, times, Long::sum));
    }
    System.out.println("cluster simulation: " + runs + " runs, " + counts);
    if (runs >= 20) {
      assertThat(counts).as("what was tried").doesNotContainValue(0L);
    }
  }

  private static Map<String, Long> check(long seed) {
    SimRun run = SimRun.of(seed, Defect.NONE);
    assertThat(run.violations()).as("-D%s=%d", Trials.SEED_PROPERTY, seed).isEmpty();
    return run.cluster.history.counts();
  }

  @Test
  void sameSeed_isTheSameRun() {
    long seed = Trials.random("cluster simulation, twice").nextLong();
    List<Long> digests =
        List.of(seed, seed).stream()
            .map(each -> SimRun.of(each, Defect.NONE).cluster.scheduler.digest())
            .toList();
    assertThat(digests.get(0)).isEqualTo(digests.get(1));
  }
}
