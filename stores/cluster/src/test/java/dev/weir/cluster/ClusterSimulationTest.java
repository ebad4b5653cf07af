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
 * <p>A run that fails prints how to repeat it with the few faults that are needed: {@code
 * -Dweir.seed} is the run's, {@code -Dweir.faults} the numbers of the faults, all without it. By
 * hand, {@code -Dweir.seconds} has it take longer.
 */
class ClusterSimulationTest {
  private static final long MOST_NANOS = Long.getLong("weir.seconds", 40) * Policies.SECOND;

  @Test
  void anyFaults_exceedNoLimit() {
    if (Long.getLong(Trials.SEED_PROPERTY) != null) {
      System.out.println(again());
      return;
    }
    Map<String, Long> counts = new TreeMap<>();
    SplittableRandom seeds = Trials.random("cluster simulation");
    long begun = Ticker.system().nanos();
    int runs = 0;
    for (; Ticker.system().nanos() - begun < MOST_NANOS; runs++) {
      long seed = seeds.nextLong();
      SimRun run = SimRun.of(seed, Defect.NONE);
      check(new SimFailure(seed, Defect.NONE, SimFault.of(seed, Defect.NONE), run));
      run.cluster.history.counts().forEach((what, times) -> counts.merge(what, times, Long::sum));
    }
    System.out.println("cluster simulation: " + runs + " runs, " + counts);
    if (runs >= 20) {
      assertThat(counts).as("what was tried").doesNotContainValue(0L);
    }
  }

  private static void check(SimFailure run) {
    if (!run.run().violations().isEmpty()) {
      System.out.println(run);
      throw new AssertionError(run.shortened(run.kinds()).toString());
    }
  }

  /** Repeats one run, with some of its faults. */
  private static Map<String, Long> again() {
    Defect defect = Defect.valueOf(System.getProperty(SimFailure.DEFECT_PROPERTY, "NONE"));
    String numbers = System.getProperty(SimFailure.FAULTS_PROPERTY);
    List<SimFault> faults = SimFailure.faults(Trials.SEED, defect, numbers);
    SimRun run = SimRun.of(Trials.SEED, defect, faults);
    check(new SimFailure(Trials.SEED, defect, faults, run));
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
