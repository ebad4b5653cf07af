package dev.weir.bench;

import dev.weir.Ticker;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Latency at half of the maximal rate, second by second, of Weir beside an empty service. Server
 * and generator, which is this class's program, have a processor each: the generator never rests.
 */
final class WireTail {
  private static final int SECONDS = 10;
  private static final int WARM_UP_SECONDS = 3;
  private static final int PIPELINE = 500;
  private static final int KEYS = 100_000;

  /**
   * The figures of one run.
   *
   * @param unanswered requests without an answer at the end
   * @param p50 of all answers, in milliseconds
   * @param p99 of each second's, in milliseconds
   * @param late p99 of each second of the generator's own lateness, in milliseconds
   */
  private record Found(
      double perSecond, double unanswered, double p50, List<Double> p99, List<Double> late) {}

  private WireTail() {}

  static void head() {
    System.out.printf(
        "%n**At half of the maximum, generator on another processor, ms from when a request was due**%n%n"
            + "| | maximum per second | due per second | p50 | p99 of each second | p99, median |"
            + " the generator's own lateness: p99, median |%n|---|---|---|---|---|---|---|%n");
  }

  /** Prints rows of one server, of which the first shows how it warms up. */
  static void print(String server, Door protocol, String port, int rows)
      throws IOException, InterruptedException {
    boolean http = protocol == Door.JSON;
    String connections = http ? "64" : "16";
    Found most = load(protocol, port, connections, http ? 1 : 20, 0, WARM_UP_SECONDS, 2);
    long due = Math.round(most.perSecond / 2);
    for (int row = 0; row < rows; row++) {
      Found found = load(protocol, port, connections, http ? 1 : PIPELINE, due, 0, SECONDS);
      StringBuilder seconds = new StringBuilder();
      for (double second : found.p99) {
        seconds.append(String.format(Locale.ROOT, "%.1f ", second));
      }
      System.out.printf(
          Locale.ROOT,
          "| %s, %s | %,.0f | %,d | %.2f | %s | %.2f | %.2f |%n",
          server,
          protocol,
          most.perSecond,
          due,
          found.p50,
          seconds.toString().strip(),
          Median.of(found.p99.stream().mapToDouble(second -> second)),
          Median.of(found.late.stream().mapToDouble(second -> second)));
      if (found.unanswered > 0) {
        System.out.printf("%,.0f requests had no answer in the end.%n", found.unanswered);
      }
    }
  }

  /** Runs the generator on its processor. */
  private static Found load(
      Door protocol,
      String port,
      String connections,
      int inFlight,
      long perSecond,
      int warmUpSeconds,
      int seconds)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It makes little garbage, and compiles within its first second.
    command.addAll(List.of("-Xms512m", "-Xmx512m", "-Xmn400m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Dio.netty.leakDetection.level=disabled"));
    command.addAll(List.of("-Dio.netty.buffer.checkAccessible=false"));
    command.addAll(List.of("-Dio.netty.buffer.checkBounds=false"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(WireTail.class.getName(), protocol.name(), port, connections));
    command.addAll(List.of("" + inFlight, "" + perSecond, "" + warmUpSeconds, "" + seconds));
    Found found = new Found(0, 0, 0, new ArrayList<>(), new ArrayList<>());
    for (String line : Program.run(Program.on(1, command)).lines().toList()) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("second")) {
        found.p99.add(Double.valueOf(words[1]));
        found.late.add(Double.valueOf(words[2]));
      } else if (words[0].equals("all")) {
        return new Found(
            Double.parseDouble(words[1]),
            Double.parseDouble(words[2]),
            Double.parseDouble(words[3]),
            found.p99,
            found.late);
      }
    }
    throw new IOException("the generator printed no result");
  }

  /**
   * Arguments: a protocol; the port; connections; most requests in flight on each; requests due per
   * second, 0 for as many as are answered; seconds to warm up, and to measure.
   */
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[1]);
    LoadPlan plan =
        new LoadPlan(
            Door.valueOf(arguments[0]),
            List.of(
                new LoadPlan.Target(
                    "127.0.0.1", new InetSocketAddress(InetAddress.getLoopbackAddress(), port))),
            new LoadPlan.Connections(
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                LoadPlan.Loops.polling(0)),
            LoadPlan.Timing.bySecond(
                Long.parseLong(arguments[4]),
                TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[5])),
                TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[6]))),
            new LoadPlan.Requests(
                "bench",
                "user",
                new LoadPlan.Throttle(999_999, 1_000_000, 60),
                new LoadPlan.Keys(KEYS, KeyDraw.Kind.UNIFORM, 0)),
            LoadPlan.Access.OPEN);
    LoadResult result =
        new LoadGenerator(plan, Ticker.system()).run((atNanos, ofNanos, latest) -> {});
    for (LoadResult.Part second : result.parts()) {
      System.out.printf(
          Locale.ROOT, "second %.3f %.3f%n", second.p99Nanos() / 1e6, second.lateP99Nanos() / 1e6);
    }
    System.out.printf(
        Locale.ROOT,
        "all %.0f %d %.3f%n",
        result.perSecond(),
        result.undecided(),
        result.latency().getValueAtPercentile(50) / 1e6);
  }
}
