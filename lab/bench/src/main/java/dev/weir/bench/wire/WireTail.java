package dev.weir.bench.wire;

import dev.weir.Ticker;
import dev.weir.bench.Median;
import dev.weir.bench.Tools;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadResult;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A comparison of latency at half of the maximal rate, second by second, of Weir and an empty
 * service. Server and generator, which is this class's program, have a processor each: the
 * generator never rests.
 */
final class WireTail {
  private static final int SECONDS = 10;
  private static final int WARM_UP_SECONDS = 3;
  private static final int MOST_SECONDS = 2;
  private static final int KEYS = 100_000;

  private final Door protocol;
  private final InetSocketAddress address;

  private WireTail(Door protocol, int port) {
    this.protocol = protocol;
    this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  static void head() {
    System.out.printf(
        "%n**At half of the maximum, generator on another processor, ms from when a request was"
            + " due**%n%n| | maximum per second | due per second | p50 | p99 of each second | p99,"
            + " median | the generator's own lateness: p99, median"
            + " |%n|---|---|---|---|---|---|---|%n");
  }

  /** Prints rows of one server, the first of which shows how it warms up. */
  static void print(String server, Door protocol, String port, int rows)
      throws IOException, InterruptedException {
    System.out.print(
        ChildProcess.java(WireTail.class, server, protocol.name(), port, "" + rows)
            .options("-Xms512m", "-Xmx512m", "-Xmn400m", "-XX:+UseSerialGC")
            .options(
                "-Dio.netty.leakDetection.level=disabled",
                "-Dio.netty.buffer.checkAccessible=false",
                "-Dio.netty.buffer.checkBounds=false")
            .within(Tools.onProcessor(1))
            .run());
  }

  /**
   * Finds the maximum, which compiles the generator as well, and then measures at half of it.
   *
   * <p>Arguments: the server's name, a protocol, the port, and rows.
   */
  public static void main(String[] arguments) throws Exception {
    WireTail tail = new WireTail(Door.valueOf(arguments[1]), Integer.parseInt(arguments[2]));
    boolean http = tail.protocol == Door.JSON;
    double most = tail.run(http ? 1 : 20, 0, WARM_UP_SECONDS, MOST_SECONDS).perSecond();
    long due = Math.round(most / 2);
    for (int row = 0; row < Integer.parseInt(arguments[3]); row++) {
      LoadResult found = tail.run(http ? 1 : 500, due, 0, SECONDS);
      System.out.printf(
          Locale.ROOT,
          "| %s, %s | %,.0f | %,d | %.2f | %s | %.2f | %.2f |%n",
          arguments[0],
          tail.protocol,
          most,
          due,
          found.latency().getValueAtPercentile(50) / 1e6,
          found.parts().stream()
              .map(second -> String.format(Locale.ROOT, "%.1f", second.p99Nanos() / 1e6))
              .collect(Collectors.joining(" ")),
          Median.of(found.parts().stream().mapToDouble(second -> second.p99Nanos() / 1e6)),
          Median.of(found.parts().stream().mapToDouble(second -> second.lateP99Nanos() / 1e6)));
      if (found.undecided() > 0) {
        System.out.printf(Locale.ROOT, "%,d requests were not decided.%n", found.undecided());
      }
    }
  }

  private LoadResult run(int inFlight, long perSecond, int warmUpSeconds, int seconds)
      throws IOException, InterruptedException {
    LoadPlan plan =
        new LoadPlan(
            protocol,
            List.of(new LoadPlan.Target("127.0.0.1", address)),
            new LoadPlan.Connections(
                protocol == Door.JSON ? 64 : 16, inFlight, LoadPlan.Loops.polling(0)),
            LoadPlan.Timing.bySecond(
                perSecond,
                TimeUnit.SECONDS.toNanos(warmUpSeconds),
                TimeUnit.SECONDS.toNanos(seconds)),
            new LoadPlan.Requests(
                "bench",
                "user",
                new LoadPlan.Throttle(999_999, 1_000_000, 60),
                new LoadPlan.Keys(KEYS, KeyDraw.Kind.UNIFORM, 0)),
            LoadPlan.Access.OPEN);
    return new LoadGenerator(plan, Ticker.system()).run((atNanos, ofNanos, latest) -> {});
  }
}
