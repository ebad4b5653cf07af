package dev.weir.bench.wire;

import dev.weir.Ticker;
import dev.weir.bench.Median;
import dev.weir.bench.Programs;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadResult;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The cost of counts that outlive a server: decisions a second and latency by {@code
 * --state-durability}, in one run, and the time from a kill to the first answer, by keys. Servers
 * and generator share the machine.
 */
public final class StateFigures {
  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: user
          rate_limit: {unit: day, requests_per_unit: 1000000, algorithm: %s}
      """;

  private static final List<String> DURABILITIES = List.of("none", "process", "machine");
  private static final List<String> ALGORITHMS = List.of("token-bucket", "sliding-window");
  private static final int COST_KEYS = 100_000;

  /** The requests a second at which latencies are measured: a few percent of the machine. */
  private static final long DUE = 20_000;

  private static final Pattern READY = Pattern.compile("ready: .*resp on \\S+:(\\d+)");
  private static final Pattern RESTORED = Pattern.compile("(\\d+) changes since their image");

  private final String home;
  private final int rounds;
  private final int seconds;
  private final Path folder = Files.createTempDirectory("weir-state");
  private final Programs started = new Programs();

  private StateFigures(String home, int rounds, int seconds) throws IOException {
    this.home = home;
    this.rounds = rounds;
    this.seconds = seconds;
  }

  /** Arguments: the folder of Weir, numbers of keys separated by commas, rounds, and seconds. */
  public static void main(String[] arguments) throws Exception {
    StateFigures figures =
        new StateFigures(
            arguments[0], Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
    try {
      for (String each : ALGORITHMS) {
        figures.cost(each);
      }
      figures.restarts(
          Stream.of(arguments[1].split(",", -1)).map(Long::parseLong).toList(), ALGORITHMS);
    } finally {
      figures.started.close();
      delete(figures.folder);
    }
  }

  /** A server on a folder of counts. */
  private final class Server {
    final ChildProcess process;
    private final InetSocketAddress address;

    Server(String algorithm, String durability, Path state) throws IOException {
      Path rules = Files.writeString(folder.resolve(algorithm), RULES.formatted(algorithm));
      process =
          started.start(
              ChildProcess.of(
                  home + "/weir",
                  "serve",
                  "--port",
                  "0",
                  "--grpc-port",
                  "0",
                  "--resp-port",
                  "0",
                  "--no-warmup",
                  "--max-keys",
                  "20000000",
                  "--max-memory",
                  "80%",
                  "--rules",
                  rules.toString(),
                  "--state-dir",
                  state.toString(),
                  "--state-durability",
                  durability));
      Matcher ready = process.await(READY);
      address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(ready.group(1)));
    }

    /** Sends {@code WEIR.CHECK} commands, as fast as they are answered or so many a second. */
    LoadResult check(long perSecond, long keys, KeyDraw.Kind draw, double length)
        throws IOException, InterruptedException {
      boolean open = perSecond > 0;
      LoadPlan plan =
          new LoadPlan(
              Door.RESP_RULES,
              List.of(new LoadPlan.Target("127.0.0.1", address)),
              new LoadPlan.Connections(8, open ? 500 : 64, LoadPlan.Loops.polling(50_000)),
              LoadPlan.Timing.bySecond(
                  perSecond, 0, Math.round(length * TimeUnit.SECONDS.toNanos(1))),
              new LoadPlan.Requests(
                  "bench",
                  "user",
                  new LoadPlan.Throttle(1, 1, 1),
                  new LoadPlan.Keys(keys, draw, 0)),
              LoadPlan.Access.OPEN);
      return new LoadGenerator(plan, Ticker.system()).run((atNanos, ofNanos, latest) -> {});
    }
  }

  /** A server, with its results as fast as it answers, and at a fixed rate. */
  private record Contestant(
      String durability, Server server, List<LoadResult> most, List<LoadResult> due) {
    double perSecond() {
      return Median.of(most.stream().mapToDouble(LoadResult::perSecond));
    }

    double millis(double percentile) {
      return Median.of(
          due.stream().mapToDouble(each -> each.latency().getValueAtPercentile(percentile) / 1e6));
    }

    void measure(int seconds) throws IOException, InterruptedException {
      most.add(server.check(0, COST_KEYS, KeyDraw.Kind.UNIFORM, seconds));
      due.add(server.check(DUE, COST_KEYS, KeyDraw.Kind.UNIFORM, seconds));
    }
  }

  private void cost(String algorithm) throws IOException, InterruptedException {
    List<Contestant> contestants = new ArrayList<>();
    for (String each : DURABILITIES) {
      Server server = new Server(algorithm, each, folder.resolve(algorithm + "-" + each));
      contestants.add(new Contestant(each, server, new ArrayList<>(), new ArrayList<>()));
      LoadResult unused = server.check(0, COST_KEYS, KeyDraw.Kind.UNIFORM, 4.0 * seconds);
    }
    for (int round = 0; round < rounds; round++) {
      for (Contestant each : contestants) {
        each.measure(seconds);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%n**WEIR.CHECK, 8 connections of 64 in flight, %,d keys, %s; and %,d a second**%n%n"
            + "| `--state-durability` | per second | ratio | lowest, highest | p50 | p99, ms |%n"
            + "|---|---|---|---|---|---|%n",
        COST_KEYS,
        algorithm,
        DUE);
    double first = contestants.get(0).perSecond();
    for (Contestant each : contestants) {
      System.out.printf(
          Locale.ROOT,
          "| `%s` | %,.0f | %.2f | %,.0f, %,.0f | %.2f | %.2f |%n",
          each.durability,
          each.perSecond(),
          each.perSecond() / first,
          each.most.stream().mapToDouble(LoadResult::perSecond).min().orElse(0),
          each.most.stream().mapToDouble(LoadResult::perSecond).max().orElse(0),
          each.millis(50),
          each.millis(99));
    }
    started.close();
  }

  private void restarts(List<Long> keys, List<String> algorithms)
      throws IOException, InterruptedException {
    System.out.printf(
        "%n**From a start after kill -9 to the first answer, s**%n%n"
            + "| keys, algorithm | folder, MB | with the journal | with the image alone |%n"
            + "|---|---|---|---|%n");
    for (String algorithm : algorithms) {
      for (long each : keys) {
        restart(algorithm, each);
      }
    }
  }

  private void restart(String algorithm, long keys) throws IOException, InterruptedException {
    Path state = folder.resolve("restarts");
    Server server = new Server(algorithm, "process", state);
    // Each load begins with the first key, so one of them has to reach the last.
    double length = 1;
    while (server.check(0, keys, KeyDraw.Kind.IN_TURN, length).counts().answered() < keys) {
      length *= 2;
    }
    List<Double> journal = new ArrayList<>();
    List<Double> image = new ArrayList<>();
    double megabytes = 0;
    for (int round = 0; round < rounds + 1; round++) {
      server.process.kill();
      megabytes = Math.max(megabytes, bytes(state) / 1e6);
      long began = System.nanoTime();
      server = new Server(algorithm, "process", state);
      LoadResult unused = server.check(100, 1, KeyDraw.Kind.UNIFORM, 0.01);
      double taken = (System.nanoTime() - began) / 1e9;
      Matcher restored = server.process.find(RESTORED);
      // A start writes an image, so only the first one has a journal.
      boolean hasJournal = restored != null && Long.parseLong(restored.group(1)) > keys / 10;
      (hasJournal ? journal : image).add(taken);
    }
    System.out.printf(
        Locale.ROOT,
        "| %,d, %s | %,.0f | %s | %.2f |%n",
        keys,
        algorithm,
        megabytes,
        journal.isEmpty() ? "" : String.format(Locale.ROOT, "%.2f", journal.get(0)),
        Median.of(image.stream().mapToDouble(Double::doubleValue)));
    server.process.kill();
    started.close();
    delete(state);
  }

  private static long bytes(Path folder) throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        bytes += Files.size(each);
      }
    }
    return bytes;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
