package dev.weir.bench;

import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * A plan of a run: stages, each a set of scenarios that are measured in turn, the whole list once a
 * round. Rounds alternate the contenders, so that a slow minute of the machine affects all of them.
 */
enum Plan {
  /** A plan of a minute: does everything run, and about how fast? */
  QUICK("--quick", 1) {
    @Override
    List<Stage> stages() {
      return List.of(
          new Stage(BY_STRING, 1, "1000,1000000", "uniform", "all-allowed", PAIR),
          new Stage(BY_NUMBER, 1, "1000,1000000", "uniform", "all-allowed", ""),
          new Stage(BY_FINGERPRINT, 1, "1000,1000000", "uniform", "all-allowed", ""),
          new Stage(BY_RULE, 1, "1000000", "uniform", "all-allowed", ""));
    }
  },

  /**
   * A plan of a quarter of an hour: everything against Bucket4j, each difference of scenario once.
   */
  SHORT("", 1) {
    @Override
    List<Stage> stages() {
      return List.of(
          new Stage(BY_STRING, 1, "1000,1000000", "uniform", "all-allowed", ""),
          new Stage(BY_STRING, 1, "1000000", "uniform", "mostly-denied", PEERS),
          new Stage(BY_STRING, 1, "1000,1000000", "zipf", "all-allowed", PEERS),
          new Stage(BY_STRING, 2, "1", "uniform", "all-allowed", PEERS),
          new Stage(BY_STRING, 2, "1,1000000", "uniform", "mostly-denied", PAIR),
          new Stage(BY_STRING, 2, "1000000", "zipf", "all-allowed", PAIR),
          new Stage(BY_NUMBER, 1, "1000,1000000,10000000", "uniform", "all-allowed", ""),
          new Stage(BY_FINGERPRINT, 1, "1000,1000000,50000000", "uniform", "all-allowed", ""),
          new Stage(BY_BARE_TABLE, 1, "1000,1000000,50000000", "uniform", "all-allowed", ""),
          new Stage(BY_FINGERPRINT, 1, "1000000", "zipf", "all-allowed", ""),
          new Stage(BY_FINGERPRINT, 1, "1000000", "uniform", "mostly-denied", ""),
          new Stage(BY_FINGERPRINT, 2, "1000000", "uniform,zipf", "all-allowed", ""),
          new Stage(BY_RULE, 1, "1000,1000000", "uniform", "all-allowed", ""));
    }
  },

  /** A plan of some minutes: throughput by number of keys, for the chart. */
  CHART("--chart", 1) {
    @Override
    List<Stage> stages() {
      String keys = "1000,10000,100000,1000000,4000000";
      return List.of(
          new Stage(BY_STRING, 1, keys, "uniform", "all-allowed", PEERS),
          new Stage(BY_NUMBER, 1, keys, "uniform", "all-allowed", "weir-number"),
          new Stage(BY_FINGERPRINT, 1, keys + ",50000000", "uniform", "all-allowed", ""));
    }
  },

  /** A plan of hours: every scenario, in several rounds of longer runs. */
  LONG("--long", 3) {
    @Override
    List<Stage> stages() {
      List<Stage> stages = new ArrayList<>();
      for (int threads = 1; threads <= 2; threads++) {
        String loads = "all-allowed,mostly-denied";
        stages.add(new Stage(BY_STRING, threads, "1", "uniform", loads, ""));
        for (String benchmark : List.of(BY_STRING, BY_NUMBER, BY_FINGERPRINT, BY_RULE)) {
          stages.add(new Stage(benchmark, threads, "1000,1000000", "uniform,zipf", loads, ""));
        }
      }
      return stages;
    }

    @Override
    void timing(ChainedOptionsBuilder options) {
      options
          .warmupIterations(3)
          .warmupTime(TimeValue.seconds(1))
          .measurementIterations(5)
          .measurementTime(TimeValue.seconds(1));
    }
  };

  private static final String BY_STRING = ByStringKey.class.getSimpleName();
  private static final String BY_NUMBER = ByNumber.class.getSimpleName();
  private static final String BY_FINGERPRINT = ByFingerprint.class.getSimpleName();
  private static final String BY_BARE_TABLE = ByBareTable.class.getSimpleName();
  private static final String BY_RULE = ByRule.class.getSimpleName();
  private static final String PAIR = Contender.WEIR_TOKEN_BUCKET + "," + Contender.BUCKET4J;
  private static final String PEERS =
      PAIR + "," + Contender.RESILIENCE4J + "," + Contender.GUAVA + "," + Contender.DEQUES;

  /**
   * The scenarios to measure: all combinations. Several values are separated by commas.
   *
   * @param limiters the limiters, or the empty text for all
   */
  record Stage(
      String benchmark, int threads, String keys, String draw, String load, String limiters) {

    void addTo(OptionsBuilder options) {
      options
          .include("\\." + benchmark + "\\.")
          .threads(threads)
          .param("keys", keys.split(","))
          .param("draw", draw.split(","))
          .param("load", load.split(","));
      if (!limiters.isEmpty()) {
        options.param("limiter", limiters.split(","));
      }
    }
  }

  private final String flag;
  private final int rounds;

  Plan(String flag, int rounds) {
    this.flag = flag;
    this.rounds = rounds;
  }

  /** Returns the argument that chooses this plan, or the empty text if it needs none. */
  String flag() {
    return flag;
  }

  int rounds() {
    return rounds;
  }

  abstract List<Stage> stages();

  /** Sets the time for which a scenario is measured. Default: as in {@link KeyedBenchmark}. */
  void timing(ChainedOptionsBuilder options) {}
}
