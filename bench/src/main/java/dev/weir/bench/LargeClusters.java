package dev.weir.bench;

import static dev.weir.bench.ClusterFigures.say;

import dev.weir.bench.ClusterCosts.Cost;
import dev.weir.bench.ClusterModel.Outcome;
import dev.weir.bench.ClusterModel.Setting;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How many members decide 50 and 100 million times a second, by the model, and between what bounds
 * that is if the model is off by as much as it was where it could be compared.
 *
 * <p>A large cluster is taken for many of three members each: groups share nothing but members, so
 * what is on other members does not matter to a group.
 *
 * @param size by what share of the members that the model says there may have to be more or fewer
 * @param p50 the same for the median time
 * @param p99 the same for what one in a hundred waits for
 */
record LargeClusters(ClusterCosts costs, Bytes bytes, Range size, Range p50, Range p99) {
  private static final int MEMBERS = 3;
  private static final int[] GROUPS = {3, 6};
  private static final double[] RATES = {50e6, 100e6};
  private static final int PROCESSORS = 8;
  private static final int CONNECTIONS = 64;
  private static final double HOP_NANOS = 50_000;
  private static final int MOST_UNDER_WAY = 1 << 22;
  private static final double MOST_BUSY = 0.8;
  private static final double MOST_P50_MILLIS = 20;
  private static final double LEAST_PER_SECOND = 200_000;
  private static final double STEP = 1.2;
  private static final double WARM_UP_SECONDS = 0.5;
  private static final double SIMULATED_SECONDS = 0.3;

  /** Bytes for an entry, and for each decision in it; by the network, and on all disks. */
  record Bytes(Cost network, Cost disk) {}

  /** From what the model says to what may be so; 1 is in it. */
  record Range(double least, double most) {
    /** Returns the range of some shares. */
    static Range of(double... shares) {
      double[] sorted = shares.clone();
      Arrays.sort(sorted);
      return new Range(Math.min(1, sorted[0]), Math.max(1, sorted[sorted.length - 1]));
    }

    String times(String format, double model) {
      return String.format(
          Locale.ROOT,
          format + " (" + format + " to " + format + ")",
          model,
          least * model,
          most * model);
    }
  }

  /** Prints what three members do by number of groups, and how many of them there have to be. */
  void table() {
    say(
        "| groups of 3 members | decided/s | p50 ms | p99 ms | busiest member | decisions an entry"
            + " |");
    say("|---|---|---|---|---|---|");
    Map<Integer, Outcome> all = new TreeMap<>();
    for (int groups : GROUPS) {
      Outcome most = most(groups);
      if (most != null) {
        all.put(groups, most);
        say(row(groups, most));
      }
    }
    say("");
    say("| decided/s | groups of 3 members | members | processors | network GB/s | disk GB/s |");
    say("|---|---|---|---|---|---|");
    for (double rate : RATES) {
      all.forEach((groups, most) -> say(row(rate, groups, most)));
    }
  }

  /** Returns the highest load under which three members keep a fifth of their processors idle. */
  private @Nullable Outcome most(int groups) {
    Outcome most = null;
    for (double rate = LEAST_PER_SECOND; ; rate *= STEP) {
      Outcome next =
          ClusterModel.run(
              costs,
              new Setting(groups, PROCESSORS, true, HOP_NANOS, rate, MOST_UNDER_WAY, CONNECTIONS),
              WARM_UP_SECONDS,
              SIMULATED_SECONDS);
      if (next.busiest() > MOST_BUSY
          || next.perSecond() < 0.95 * rate
          || next.p50Millis() > MOST_P50_MILLIS) {
        return most;
      }
      most = next;
    }
  }

  private String row(int groups, Outcome most) {
    return String.format(
        Locale.ROOT,
        "| %d | %,.0f | %s | %s | %.0f %% of %d | %.0f |",
        groups,
        most.perSecond(),
        p50.times("%.1f", most.p50Millis()),
        p99.times("%.1f", most.p99Millis()),
        100 * most.busiest(),
        PROCESSORS,
        most.inEntry());
  }

  private String row(double rate, int groups, Outcome most) {
    double members = MEMBERS * rate / most.perSecond();
    double entries = rate / most.inEntry();
    return String.format(
        Locale.ROOT,
        "| %,.0f | %d | %s | %s | %.1f | %.1f |",
        rate,
        groups,
        size.times("%,.0f", members),
        size.times("%,.0f", members * PROCESSORS),
        entries * bytes.network.of(most.inEntry()) / 1e9,
        entries * bytes.disk.of(most.inEntry()) / 1e9);
  }
}
