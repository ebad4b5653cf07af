package dev.weir.bench.cluster;

import dev.weir.bench.Median;
import dev.weir.bench.redis.RedisTrio;
import dev.weir.load.LoadResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Measurements of a cluster of Weir's own servers: members are processes on this machine that flush
 * their logs to its disk, and share its processors with the one process that sends requests.
 */
final class ClusterFigures {
  static final String RULES =
      """
      domain: bench
      descriptors:
        - {key: leased, rate_limit: {unit: minute, requests_per_unit: 1000000, consistency: leased}}
        - {key: approximate,
           rate_limit: {unit: minute, requests_per_unit: 1000000, consistency: approximate}}
      """;

  /** The rates of strict decisions: four processes on two processors answer about half as many. */
  private static final double[] STRICT_PER_SECOND = {5_000, 20_000};

  private static final double OTHERS_PER_SECOND = 20_000;
  private static final double GATE_PER_SECOND = 50_000;

  /** The number of decisions under way at once with which a cluster decides as fast as it can. */
  private static final int IN_FLIGHT = 1_000;

  /**
   * The warm-up: in their first half minute, servers compile the code that they run, one after the
   * other.
   */
  private static final double WARM_UP_SECONDS = 20;

  private static final double GATE_WARM_UP_SECONDS = 30;
  private static final double SHORT_WARM_UP_SECONDS = 2;

  /** The time after which a long run reports its figures, again and again. */
  private static final double STEP_SECONDS = 15;

  private final String home;
  private final int rounds;
  private final double seconds;
  private final boolean tls;

  private ClusterFigures(String home, int rounds, double seconds, boolean tls) {
    this.home = home;
    this.rounds = rounds;
    this.seconds = seconds;
    this.tls = tls;
  }

  /**
   * Runs the measurements. Arguments: the folder of Weir, what to measure, rounds, seconds of a
   * run, "tls" or "plain", and numbers of members.
   */
  public static void main(String[] arguments) throws Exception {
    ClusterFigures figures =
        new ClusterFigures(
            arguments[0],
            Integer.parseInt(arguments[2]),
            Double.parseDouble(arguments[3]),
            arguments[4].equals("tls"));
    switch (arguments[1]) {
      case "gate" -> figures.gate();
      case "rates" -> figures.rates(arguments[5].split(",", -1));
      case "redis" -> figures.redis();
      case "idle", "failover", "rebalance", "memory", "restart", "faults" ->
          figures.faults(arguments[1].equals("faults") ? "all" : arguments[1]);
      default ->
          throw new IllegalArgumentException(
              arguments[1]
                  + " (expected: gate, rates, redis, idle, failover, rebalance, memory,"
                  + " restart, faults)");
    }
  }

  private ClusterMembers members(int size) throws IOException, InterruptedException {
    progress(size + " members start");
    return new ClusterMembers(home, size, tls, RULES);
  }

  private void faults(String part) throws IOException, InterruptedException {
    try (ClusterMembers members = members(3)) {
      new ClusterFaults(members, rounds).run(part);
    }
  }

  /** Measures fifty thousand strict decisions a second, for the requested time. */
  private void gate() throws IOException, InterruptedException {
    try (ClusterMembers members = members(3)) {
      members.leader();
      LoadResult warm =
          ClusterLoad.STRICT.open(members.ports(), GATE_PER_SECOND, 0, GATE_WARM_UP_SECONDS);
      double before = members.cpuNanos();
      double committed = members.committed();
      LoadResult got =
          ClusterLoad.STRICT.open(
              members.ports(), GATE_PER_SECOND, 0, seconds, STEP_SECONDS, ClusterFigures::step);
      print(
          "| 3 members | due/s | answered/s | p50 ms | p99 ms | p99.9 ms | longest ms | not"
              + " decided |");
      print("|---|---|---|---|---|---|---|---|");
      print(row("the first half minute", warm, GATE_WARM_UP_SECONDS));
      print(row("after it", got, seconds));
      print(
          String.format(
              Locale.ROOT,
              "%nAfter it: %.0f entries/s; members took %.2f processors. %s",
              (members.committed() - committed) / seconds,
              (members.cpuNanos() - before) / 1e9 / seconds,
              errors(got)));
    }
  }

  private static void step(long atNanos, long ofNanos, LoadResult.Part latest) {
    if (latest.lengthNanos() > 0 && atNanos < ofNanos) {
      progress(
          row(
              "the last " + STEP_SECONDS + " s",
              latest.perSecond(),
              latest.failed(),
              latest.p50Nanos(),
              latest.p99Nanos(),
              latest.p999Nanos(),
              latest.maxNanos()));
    }
  }

  private static String row(String name, LoadResult got, double seconds) {
    return row(
        name,
        got.counts().answered() / seconds,
        got.undecided(),
        got.latency().getValueAtPercentile(50),
        got.latency().getValueAtPercentile(99),
        got.latency().getValueAtPercentile(99.9),
        got.latency().getMaxValue());
  }

  private static String row(String name, double perSecond, long undecided, long... nanos) {
    StringBuilder times = new StringBuilder();
    for (long each : nanos) {
      times.append(String.format(Locale.ROOT, " %.1f |", each / 1e6));
    }
    return String.format(
        Locale.ROOT,
        "| %s | %,.0f | %,.0f |%s %,d |",
        name,
        GATE_PER_SECOND,
        perSecond,
        times,
        undecided);
  }

  /** Returns the kinds of errors that occurred. */
  static String errors(LoadResult got) {
    return String.join(", ", got.counts().errors().keySet());
  }

  /**
   * Measures rates, latencies, entries and processor time, by number of members and by consistency.
   */
  private void rates(String[] sizes) throws IOException, InterruptedException {
    head("members");
    for (String size : sizes) {
      try (ClusterMembers members = members(Integer.parseInt(size))) {
        members.leader();
        LoadResult unused =
            ClusterLoad.STRICT.open(members.ports(), OTHERS_PER_SECOND, WARM_UP_SECONDS, 0.1);
        Servers asked = new Servers(size, members.ports(), members::cpuNanos, members::committed);
        for (double due : STRICT_PER_SECOND) {
          printRow(asked, "strict", due, ClusterLoad.STRICT);
        }
        printRow(asked, "strict", Double.POSITIVE_INFINITY, ClusterLoad.STRICT);
        printRow(asked, "leased", OTHERS_PER_SECOND, ClusterLoad.byRule("leased"));
        printRow(asked, "approximate", OTHERS_PER_SECOND, ClusterLoad.byRule("approximate"));
      }
    }
  }

  /** Measures the same three members, and as many servers that share a Redis with two replicas. */
  private void redis() throws IOException, InterruptedException {
    head("three servers");
    try (ClusterMembers members = members(3)) {
      members.leader();
      beside(
          new Servers(
              tls ? "cluster, TLS" : "cluster",
              members.ports(),
              members::cpuNanos,
              members::committed));
    }
    for (int confirming : new int[] {1, 0}) {
      progress("three servers start beside a Redis with two replicas");
      try (RedisTrio trio = new RedisTrio(home, RULES, confirming)) {
        String name = confirming == 0 ? "Redis, its replicas not waited for" : "Redis, WAIT 1";
        beside(new Servers(name, trio.ports(), trio::cpuNanos, () -> Double.NaN));
      }
    }
  }

  private void beside(Servers servers) throws IOException, InterruptedException {
    LoadResult unused =
        ClusterLoad.STRICT.open(servers.ports, OTHERS_PER_SECOND, WARM_UP_SECONDS / 2, 0.1);
    printRow(servers, "strict", OTHERS_PER_SECOND, ClusterLoad.STRICT);
    printRow(servers, "strict", Double.POSITIVE_INFINITY, ClusterLoad.STRICT);
    printRow(servers, "leased", OTHERS_PER_SECOND, ClusterLoad.byRule("leased"));
  }

  /** The processes that are measured together. */
  private record Servers(
      String name, List<Integer> ports, Figure cpuNanos, Figure committedEntries) {}

  /** A counter of servers that can be read at any time. */
  private interface Figure {
    double now() throws IOException;
  }

  private static void head(String first) {
    print(
        "| "
            + first
            + " | | due/s | decided/s | p50 ms | p99 ms | not decided | processor us a decision |"
            + " decisions an entry |");
    print("|---|---|---|---|---|---|---|---|---|");
  }

  private void printRow(Servers servers, String what, double due, ClusterLoad load)
      throws IOException, InterruptedException {
    boolean flatOut = Double.isInfinite(due);
    String rate = flatOut ? IN_FLIGHT + " under way" : String.format(Locale.ROOT, "%,.0f", due);
    progress(servers.name + ": " + what + ", " + rate);
    List<LoadResult> got = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    List<Double> entries = new ArrayList<>();
    for (int i = 0; i <= rounds; i++) {
      double runs = i == 0 ? SHORT_WARM_UP_SECONDS : seconds;
      double before = servers.cpuNanos.now();
      double committed = servers.committedEntries.now();
      LoadResult one =
          flatOut
              ? load.flatOut(servers.ports, IN_FLIGHT, runs)
              : load.open(servers.ports, due, 0, runs);
      if (i == 0) {
        continue;
      }
      got.add(one);
      long decided = one.counts().answered();
      cpu.add((servers.cpuNanos.now() - before) / 1e3 / decided);
      entries.add(decided / (servers.committedEntries.now() - committed));
    }
    print(
        String.format(
            Locale.ROOT,
            "| %s | %s | %s | %,.0f | %.1f | %.1f | %,.0f | %.1f | %.0f |",
            servers.name,
            what,
            rate,
            median(got, each -> each.counts().answered() / seconds),
            median(got, each -> millis(each, 50)),
            median(got, each -> millis(each, 99)),
            median(got, LoadResult::undecided),
            median(cpu, each -> each),
            median(entries, each -> each)));
  }

  static double millis(LoadResult result, double percentile) {
    return result.latency().getValueAtPercentile(percentile) / 1e6;
  }

  static <T> double median(List<T> all, ToDoubleFunction<T> value) {
    return Median.of(all.stream().mapToDouble(value));
  }

  static void print(String line) {
    System.out.println(line);
  }

  static void progress(String line) {
    System.err.println(line);
  }
}
