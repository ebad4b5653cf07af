package dev.weir.cluster.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.cluster.Policies;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Simulations of thousands of faults in virtual time, on the real code: whatever crashes, stops, is
 * cut off, comes late or shows a wrong time, no limit is exceeded.
 *
 * <p>A run that fails prints the command that repeats it with the few faults that are needed:
 * {@code -Dweir.seed} is the run's, {@code -Dweir.faults} the numbers of the faults, or all without
 * it. {@code -Dweir.runs} sets the number of runs.
 */
@Tag("model")
@Tag("sample")
class ClusterSimulationTest {
  /**
   * The number of runs. At full length there are more than those within which {@link KnownBadTest}
   * finds every known defect.
   */
  private static final int RUNS = Integer.getInteger("weir.runs", Trials.runs(30, 200));

  /** The longest time; a machine that is too slow for all runs reports how many it made. */
  private static final long MOST_NANOS = Math.max(180, RUNS / 10) * Policies.SECOND;

  private static final int THREADS = 2;

  @Test
  void anyFaults_exceedNoLimit() throws Exception {
    if (Long.getLong(Trials.SEED_PROPERTY) != null) {
      Trials.report("cluster simulation", 1);
      System.out.println(again());
      return;
    }
    SplittableRandom random = Trials.numbers("cluster simulation");
    Queue<Long> seeds = new ConcurrentLinkedQueue<>(random.longs(RUNS).boxed().toList());
    Map<String, Long> counts = new TreeMap<>();
    long begun = Ticker.system().nanos();
    List<Optional<SimFailure>> found = inThreads(() -> run(seeds, begun, counts));
    Trials.report("cluster simulation", counts.getOrDefault("runs", 0L));
    for (Optional<SimFailure> each : found) {
      each.ifPresent(ClusterSimulationTest::check);
    }
    System.out.println("cluster simulation, what was tried: " + counts);
    if (counts.getOrDefault("runs", 0L) >= 40) {
      assertThat(counts).as("what was tried").doesNotContainValue(0L);
    }
  }

  /** Runs the remaining seeds until one fails; returns that failure. */
  private static Optional<SimFailure> run(Queue<Long> seeds, long begun, Map<String, Long> counts) {
    for (Long seed = seeds.poll();
        seed != null && Ticker.system().nanos() - begun < MOST_NANOS;
        seed = seeds.poll()) {
      List<SimFault> faults = SimFault.of(seed, Defect.NONE);
      SimRun run;
      try {
        run = SimRun.of(seed, Defect.NONE, faults);
      } catch (RuntimeException e) {
        throw new IllegalStateException("-D" + Trials.SEED_PROPERTY + "=" + seed, e);
      }
      if (!run.violations().isEmpty()) {
        seeds.clear();
        return Optional.of(new SimFailure(seed, Defect.NONE, faults, run));
      }
      synchronized (counts) {
        counts.merge("runs", 1L, Long::sum);
        run.cluster.history.counts().forEach((what, times) -> counts.merge(what, times, Long::sum));
      }
    }
    return Optional.empty();
  }

  /** Runs the same task on some threads, and returns their results. */
  private static <T> List<T> inThreads(Callable<T> task) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Callable<T>> same = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        same.add(task);
      }
      List<T> done = new ArrayList<>();
      for (Future<T> each : threads.invokeAll(same)) {
        done.add(each.get());
      }
      return done;
    } finally {
      threads.shutdownNow();
    }
  }

  private static void check(SimFailure run) {
    if (!run.run().violations().isEmpty()) {
      System.out.println(run);
      throw new AssertionError(run.shortened(run.kinds()).toString());
    }
  }

  /** Repeats one run with some of its faults. */
  private static Map<String, Long> again() {
    Defect defect = Defect.valueOf(System.getProperty(SimFailure.DEFECT_PROPERTY, "NONE"));
    String numbers = System.getProperty(SimFailure.FAULTS_PROPERTY);
    List<SimFault> faults = SimFailure.faults(Trials.SEED, defect, numbers);
    SimRun run = SimRun.of(Trials.SEED, defect, faults);
    check(new SimFailure(Trials.SEED, defect, faults, run));
    return run.cluster.history.counts();
  }

  /** Another run at the same time makes no difference: runs share nothing. */
  @Test
  void sameSeed_isTheSameRun() throws Exception {
    int runs = Trials.runs(5, 20);
    SplittableRandom random = Trials.random("cluster simulation, twice", runs);
    List<Long> seeds = random.longs(runs).boxed().toList();
    List<List<Long>> digests =
        inThreads(
            () ->
                seeds.stream()
                    .map(each -> SimRun.of(each, Defect.NONE).cluster.scheduler.digest())
                    .toList());
    assertThat(digests.get(0)).isEqualTo(digests.get(1));
  }
}
