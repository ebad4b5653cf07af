package dev.weir.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.function.ToDoubleFunction;

/**
 * What a cluster of Weir's own servers does: members are processes on this machine that flush their
 * logs to its disk, and share its processors with the one process that asks.
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

  /** Four processes on two processors answer about half as many. */
  private static final double[] STRICT_PER_SECOND = {5_000, 20_000};

  private static final double OTHERS_PER_SECOND = 20_000;
  private static final double GATE_PER_SECOND = 50_000;

  /** So many decisions under way at once have a cluster decide as fast as it can. */
  private static final int IN_FLIGHT = 1_000;

  private static final int KEYS = 1_000_000;
  private static final int HOT_KEYS = 100;
  private static final int CONNECTIONS = 4;
  private static final long SEED = 20_261_125;

  /** Servers compile what they run in their first half minute, and one after the other. */
  private static final double WARM_UP_SECONDS = 20;

  private static final double GATE_WARM_UP_SECONDS = 30;
  private static final double SHORT_WARM_UP_SECONDS = 2;

  /** A long run says how it does each so many seconds. */
  private static final double STEP_SECONDS = 15;

  private final String home;
  private final int rounds;
  private final double seconds;
  private final boolean tls;
  private final SplittableRandom random = new SplittableRandom(SEED);

  private ClusterFigures(String home, int rounds, double seconds, boolean tls) {
    this.home = home;
    this.rounds = rounds;
    this.seconds = seconds;
    this.tls = tls;
  }

  /**
   * Arguments: the folder of Weir, what to measure, rounds, seconds of a run, "tls" or "plain", and
   * numbers of members.
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

  private byte[] strict(long number) {
    return OpenLoad.command("CL.THROTTLE", "k" + random.nextInt(KEYS), "999999", "1000000", "60");
  }

  private byte[] byRule(String rule) {
    return OpenLoad.command("WEIR.CHECK", "bench", "1", rule, "k" + random.nextInt(HOT_KEYS));
  }

  private void faults(String part) throws IOException, InterruptedException {
    try (ClusterMembers members = members(3)) {
      new ClusterFaults(members, rounds).run(part);
    }
  }

  /** Fifty thousand strict decisions a second, for as long as is asked. */
  private void gate() throws IOException, InterruptedException {
    try (ClusterMembers members = members(3)) {
      members.leader();
      OpenLoad.Result warm =
          open(members.ports(), GATE_PER_SECOND, 0, GATE_WARM_UP_SECONDS, this::strict);
      double before = members.cpuNanos();
      double committed = members.committed();
      try (OpenLoad load = new OpenLoad(members.ports(), CONNECTIONS, ":0")) {
        OpenLoad.Result got =
            load.run(
                GATE_PER_SECOND,
                0,
                seconds,
                this::strict,
                STEP_SECONDS,
                step -> progress(row("the last " + STEP_SECONDS + " s", GATE_PER_SECOND, step)));
        say(
            "| 3 members | due/s | answered/s | p50 ms | p99 ms | p99.9 ms | longest ms | not"
                + " decided |");
        say("|---|---|---|---|---|---|---|---|");
        say(row("the first half minute", GATE_PER_SECOND, warm));
        say(row("after it", GATE_PER_SECOND, got));
        say(
            String.format(
                Locale.ROOT,
                "%nAfter it: %.0f entries/s; members took %.2f processors. %s",
                (members.committed() - committed) / seconds,
                (members.cpuNanos() - before) / 1e9 / seconds,
                got.firstError()));
      }
    }
  }

  private static OpenLoad.Result open(
      List<Integer> ports,
      double perSecond,
      double warmUp,
      double seconds,
      LongFunction<byte[]> command)
      throws IOException {
    try (OpenLoad load = new OpenLoad(ports, CONNECTIONS, admits(command))) {
      return load.run(perSecond, warmUp, seconds, command);
    }
  }

  /** Returns the first line of a reply to that command that admits. */
  private static String admits(LongFunction<byte[]> command) {
    String words = new String(command.apply(0), StandardCharsets.US_ASCII);
    return words.contains("THROTTLE") ? ":0" : ":1";
  }

  private static String row(String name, double due, OpenLoad.Result got) {
    return String.format(
        Locale.ROOT,
        "| %s | %,.0f | %,.0f | %.1f | %.1f | %.1f | %.1f | %,d |",
        name,
        due,
        got.perSecond(),
        got.millis(50),
        got.millis(99),
        got.millis(99.9),
        got.millis(100),
        got.errors() + got.late());
  }

  /** Rates, latencies, entries and processor time, by number of members and by consistency. */
  private void rates(String[] sizes) throws IOException, InterruptedException {
    head("members");
    for (String size : sizes) {
      try (ClusterMembers members = members(Integer.parseInt(size))) {
        members.leader();
        OpenLoad.Result unused =
            open(members.ports(), OTHERS_PER_SECOND, WARM_UP_SECONDS, 0.1, this::strict);
        Servers asked = new Servers(size, members.ports(), members::cpuNanos, members::committed);
        for (double due : STRICT_PER_SECOND) {
          asked(asked, "strict", due, this::strict);
        }
        asked(asked, "strict", Double.POSITIVE_INFINITY, this::strict);
        asked(asked, "leased", OTHERS_PER_SECOND, n -> byRule("leased"));
        asked(asked, "approximate", OTHERS_PER_SECOND, n -> byRule("approximate"));
      }
    }
  }

  /** The same three members, and as many servers that share a Redis with two replicas. */
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

  private void beside(Servers servers) throws IOException {
    OpenLoad.Result unused =
        open(servers.ports, OTHERS_PER_SECOND, WARM_UP_SECONDS / 2, 0.1, this::strict);
    asked(servers, "strict", OTHERS_PER_SECOND, this::strict);
    asked(servers, "strict", Double.POSITIVE_INFINITY, this::strict);
    asked(servers, "leased", OTHERS_PER_SECOND, n -> byRule("leased"));
  }

  /** Processes that are asked together. */
  private record Servers(
      String name, List<Integer> ports, Figure cpuNanos, Figure committedEntries) {}

  /** What servers have come to. */
  private interface Figure {
    double now() throws IOException;
  }

  private static void head(String first) {
    say(
        "| "
            + first
            + " | | due/s | decided/s | p50 ms | p99 ms | not decided | processor us a decision |"
            + " decisions an entry |");
    say("|---|---|---|---|---|---|---|---|---|");
  }

  private void asked(Servers servers, String what, double due, LongFunction<byte[]> command)
      throws IOException {
    boolean flatOut = Double.isInfinite(due);
    String load = flatOut ? IN_FLIGHT + " under way" : String.format(Locale.ROOT, "%,.0f", due);
    progress(servers.name + ": " + what + ", " + load);
    List<OpenLoad.Result> got = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    List<Double> entries = new ArrayList<>();
    try (OpenLoad asking = new OpenLoad(servers.ports, CONNECTIONS, admits(command))) {
      for (int i = 0; i <= rounds; i++) {
        double runs = i == 0 ? SHORT_WARM_UP_SECONDS : seconds;
        double before = servers.cpuNanos.now();
        double committed = servers.committedEntries.now();
        OpenLoad.Result one =
            flatOut
                ? asking.flatOut(IN_FLIGHT, 0, runs, command)
                : asking.run(due, 0, runs, command);
        if (i == 0) {
          continue;
        }
        got.add(one);
        long decided = one.admitted() + one.refused();
        cpu.add((servers.cpuNanos.now() - before) / 1e3 / decided);
        entries.add(decided / (servers.committedEntries.now() - committed));
      }
    }
    say(
        String.format(
            Locale.ROOT,
            "| %s | %s | %s | %,.0f | %.1f | %.1f | %,.0f | %.1f | %.0f |",
            servers.name,
            what,
            load,
            median(got, OpenLoad.Result::perSecond),
            median(got, each -> each.millis(50)),
            median(got, each -> each.millis(99)),
            median(got, each -> each.errors() + each.late()),
            median(cpu, each -> each),
            median(entries, each -> each)));
  }

  static <T> double median(List<T> all, ToDoubleFunction<T> value) {
    return Median.of(all.stream().mapToDouble(value));
  }

  static void say(String line) {
    System.out.println(line);
  }

  static void progress(String line) {
    System.err.println(line);
  }
}
