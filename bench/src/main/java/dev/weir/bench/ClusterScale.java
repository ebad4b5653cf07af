package dev.weir.bench;

import static dev.weir.bench.ClusterFigures.progress;
import static dev.weir.bench.ClusterFigures.say;

import dev.weir.bench.ClusterCosts.Run;
import dev.weir.bench.ClusterModel.Outcome;
import dev.weir.bench.ClusterModel.Setting;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.stream.DoubleStream;

/**
 * What a large cluster would do, by a model whose costs are measured here and now, and which counts
 * only if it predicts what real members of 1, 2 and 4 groups do, here and now.
 */
final class ClusterScale {
  /** What a prediction may be off by. */
  private static final double MOST_OFF = 0.2;

  private static final int MEMBERS = 3;
  private static final int CONNECTIONS = 4;
  private static final int KEYS = 1_000_000;
  private static final int IN_FLIGHT = 1_000;
  private static final double FEW_PER_SECOND = 5_000;
  private static final double OPEN_PER_SECOND = 20_000;
  private static final double WARM_UP_SECONDS = 10;
  private static final double SIMULATED_SECONDS = 3;

  private final String home;
  private final double seconds;
  private final boolean tls;
  private final int processors = Runtime.getRuntime().availableProcessors();
  private final SplittableRandom random = new SplittableRandom(20_261_125);

  /** What real members did. */
  private record Real(double perSecond, double p50, double p99, double micros, double inEntry) {}

  /** A load: open, or as fast as it is answered. */
  private record Load(String name, double perSecond) {
    boolean flatOut() {
      return Double.isInfinite(perSecond);
    }
  }

  private static final Load FEW = new Load("5,000/s", FEW_PER_SECOND);
  private static final Load OPEN = new Load("20,000/s", OPEN_PER_SECOND);
  private static final Load FLAT_OUT = new Load("1,000 under way", Double.POSITIVE_INFINITY);

  private ClusterScale(String home, double seconds, boolean tls) {
    this.home = home;
    this.seconds = seconds;
    this.tls = tls;
  }

  /** Arguments: the folder of Weir, seconds of a run, "tls" or "plain". */
  public static void main(String[] arguments) throws Exception {
    new ClusterScale(arguments[0], Double.parseDouble(arguments[1]), arguments[2].equals("tls"))
        .all();
  }

  private void all() throws IOException, InterruptedException {
    Map<Integer, Map<Load, Real>> real = new HashMap<>();
    ClusterCosts costs = null;
    for (int groups : new int[] {1, 2, 4}) {
      progress(groups + " groups: members start");
      try (ClusterMembers members =
          new ClusterMembers(home, MEMBERS, groups, tls, ClusterFigures.RULES)) {
        int leader = members.leader();
        measure(members, OPEN, WARM_UP_SECONDS);
        Map<Load, Real> all = new HashMap<>();
        if (groups == 1) {
          Measured few = measured(members, FEW);
          Measured many = measured(members, FLAT_OUT);
          costs = costs(few, many, leader);
          table(costs);
          all.put(FLAT_OUT, many.real);
        } else {
          all.put(FLAT_OUT, measured(members, FLAT_OUT).real);
        }
        all.put(OPEN, measured(members, OPEN).real);
        real.put(groups, all);
      }
    }
    if (costs == null) {
      throw new IllegalStateException("no costs");
    }
    if (validated(costs, real)) {
      large(costs);
    } else {
      say("");
      say("A prediction is off by more than 20 %: no figure of a large cluster follows from it.");
    }
  }

  private byte[] strict(long number) {
    return OpenLoad.command("CL.THROTTLE", "k" + random.nextInt(KEYS), "999999", "1000000", "60");
  }

  private OpenLoad.Result measure(ClusterMembers members, Load load, double lasting)
      throws IOException {
    LongFunction<byte[]> command = this::strict;
    try (OpenLoad asking = new OpenLoad(members.ports(), CONNECTIONS, ":0")) {
      return load.flatOut()
          ? asking.flatOut(IN_FLIGHT, 0, lasting, command)
          : asking.run(load.perSecond, 0, lasting, command);
    }
  }

  /** A run, and what each member took in it. */
  private record Measured(Real real, List<Run> members, double generatorNanos) {}

  private Measured measured(ClusterMembers members, Load load) throws IOException {
    progress(load.name);
    OpenLoad.Result unused = measure(members, load, 1);
    List<Map<ClusterStage, Double>> before = taken(members);
    double entries = members.committed();
    double cpu = members.cpuNanos();
    long own = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    OpenLoad.Result got = measure(members, load, seconds);
    double generator = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - own;
    cpu = members.cpuNanos() - cpu;
    entries = members.committed() - entries;
    List<Map<ClusterStage, Double>> after = taken(members);
    double decisions = got.admitted() + got.refused();
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      Map<ClusterStage, Double> nanos = new EnumMap<>(ClusterStage.class);
      for (ClusterStage each : ClusterStage.values()) {
        nanos.put(
            each,
            Objects.requireNonNull(after.get(i).get(each))
                - Objects.requireNonNull(before.get(i).get(each)));
      }
      runs.add(new Run(entries, decisions, nanos));
    }
    return new Measured(
        new Real(
            got.perSecond(),
            got.millis(50),
            got.millis(99),
            cpu / 1e3 / decisions,
            decisions / entries),
        runs,
        generator / decisions);
  }

  private static List<Map<ClusterStage, Double>> taken(ClusterMembers members) throws IOException {
    List<Map<ClusterStage, Double>> all = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      all.add(ClusterCosts.taken(members.pid(i)));
    }
    return all;
  }

  private ClusterCosts costs(Measured few, Measured many, int leader)
      throws IOException, InterruptedException {
    Map<ClusterStage, ClusterCosts.Cost> led =
        ClusterCosts.explaining(few.members.get(leader), many.members.get(leader));
    // The mean of both followers.
    int one = (leader + 1) % MEMBERS;
    int other = (leader + 2) % MEMBERS;
    Map<ClusterStage, ClusterCosts.Cost> followed =
        ClusterCosts.explaining(
            mean(few.members.get(one), few.members.get(other)),
            mean(many.members.get(one), many.members.get(other)));
    return new ClusterCosts(
        led, followed, many.generatorNanos, ClusterCosts.flush(), ClusterCosts.wake());
  }

  private static Run mean(Run one, Run other) {
    Map<ClusterStage, Double> nanos = new EnumMap<>(ClusterStage.class);
    one.nanos()
        .forEach(
            (stage, took) -> nanos.put(stage, (took + other.nanos().getOrDefault(stage, 0.0)) / 2));
    return new Run(one.entries(), one.decisions(), nanos);
  }

  private static void table(ClusterCosts costs) {
    say("| stage | leader: us an entry | ns a decision | follower: us an entry | ns a decision |");
    say("|---|---|---|---|---|");
    for (ClusterStage each : ClusterStage.values()) {
      say(
          String.format(
              Locale.ROOT,
              "| %s | %.0f | %.0f | %.0f | %.0f |",
              each.name().toLowerCase(Locale.ROOT),
              costs.led(each).entryNanos() / 1e3,
              costs.led(each).decisionNanos(),
              costs.followed(each).entryNanos() / 1e3,
              costs.followed(each).decisionNanos()));
    }
    say(
        String.format(
            Locale.ROOT,
            "%nThe generator takes %.0f ns a decision; a flush %.0f us; until a thread runs that"
                + " waited, %.0f us.%n",
            costs.generatorNanos(),
            costs.flushNanos() / 1e3,
            costs.wakeNanos() / 1e3));
  }

  private boolean validated(ClusterCosts costs, Map<Integer, Map<Load, Real>> real) {
    say(
        "| groups | load | decided/s: real, model | p50 ms | p99 ms | processor us a decision |"
            + " decisions an entry | off by at most |");
    say("|---|---|---|---|---|---|---|---|");
    boolean all = true;
    for (int groups : new int[] {1, 2, 4}) {
      for (Load load : List.of(OPEN, FLAT_OUT)) {
        Real is = Objects.requireNonNull(Objects.requireNonNull(real.get(groups)).get(load));
        Outcome said =
            ClusterModel.run(
                costs,
                new Setting(
                    groups,
                    processors,
                    false,
                    0,
                    load.perSecond,
                    load.flatOut() ? IN_FLIGHT : 1 << 18),
                SIMULATED_SECONDS);
        double off =
            DoubleStream.of(
                    off(is.perSecond, said.perSecond()),
                    off(is.p50, said.p50Millis()),
                    off(is.micros, said.memberMicros()))
                .max()
                .orElseThrow();
        all &= off <= MOST_OFF;
        say(
            String.format(
                Locale.ROOT,
                "| %d | %s | %,.0f, %,.0f | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f | %.0f, %.0f |"
                    + " %.0f %% |",
                groups,
                load.name,
                is.perSecond,
                said.perSecond(),
                is.p50,
                said.p50Millis(),
                is.p99,
                said.p99Millis(),
                is.micros,
                said.memberMicros(),
                is.inEntry,
                said.inEntry(),
                100 * off));
      }
    }
    return all;
  }

  private static double off(double real, double model) {
    return Math.abs(model - real) / real;
  }

  /** Three members of 16 processors each with more and more groups, at four fifths of them. */
  private static void large(ClusterCosts costs) {
    int cores = 16;
    double hop = 50_000;
    say("");
    say("| groups of 3 members | decided/s | p50 ms | busiest member | for 50 M/s | for 100 M/s |");
    say("|---|---|---|---|---|---|");
    for (int groups : new int[] {3, 6, 12}) {
      double rate = 100_000;
      Outcome best = null;
      while (true) {
        Outcome next =
            ClusterModel.run(costs, new Setting(groups, cores, true, hop, rate, 1 << 22), 0.5);
        if (next.busiest() > 0.8 || next.perSecond() < 0.95 * rate || next.p50Millis() > 10) {
          break;
        }
        best = next;
        rate *= 1.25;
      }
      if (best != null) {
        say(
            String.format(
                Locale.ROOT,
                "| %d | %,.0f | %.1f | %.0f %% of %d | %.0f members | %.0f members |",
                groups,
                best.perSecond(),
                best.p50Millis(),
                100 * best.busiest(),
                cores,
                MEMBERS * Math.ceil(50e6 / best.perSecond()),
                MEMBERS * Math.ceil(100e6 / best.perSecond())));
      }
    }
  }
}
