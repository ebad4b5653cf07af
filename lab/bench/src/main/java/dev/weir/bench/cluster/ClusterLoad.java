package dev.weir.bench.cluster;

import dev.weir.Ticker;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadProgress;
import dev.weir.load.LoadResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A load on servers of this machine over Redis's protocol, by one thread. To take little of the
 * processors that the servers need, it sends due requests and reads answers each half millisecond.
 * Requests that are due together go out in one write, on one connection after the other.
 */
record ClusterLoad(Door door, LoadPlan.Requests requests) {
  static final int KEYS = 1_000_000;

  static final ClusterLoad STRICT =
      new ClusterLoad(
          Door.RESP, requests("strict", 999_999, 1_000_000, 60, keys(KeyDraw.Kind.UNIFORM)));

  /** A load that charges each of a million keys once. */
  static final ClusterLoad EACH_KEY =
      new ClusterLoad(Door.RESP, requests("each", 9, 1, 3_600, keys(KeyDraw.Kind.IN_TURN)));

  private static final int HOT_KEYS = 100;
  private static final int CONNECTIONS = 4;
  private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

  /**
   * The most requests in flight on one connection: far more than are answered in time. Further
   * requests wait, and the wait counts.
   */
  private static final int MOST_IN_FLIGHT = 10_000;

  /** Returns load by one of {@link ClusterFigures#RULES}, named by its key. */
  static ClusterLoad byRule(String key) {
    return new ClusterLoad(
        Door.RESP_RULES,
        requests(key, 0, 1, 1, new LoadPlan.Keys(HOT_KEYS, KeyDraw.Kind.UNIFORM, 0)));
  }

  private static LoadPlan.Keys keys(KeyDraw.Kind draw) {
    return new LoadPlan.Keys(KEYS, draw, 0);
  }

  private static LoadPlan.Requests requests(
      String descriptor, long burst, long count, long seconds, LoadPlan.Keys keys) {
    return new LoadPlan.Requests(
        "bench", descriptor, new LoadPlan.Throttle(burst, count, seconds), keys);
  }

  /**
   * Sends at a fixed rate, whether or not earlier requests are answered; the warm-up is not
   * measured.
   */
  LoadResult open(List<Integer> ports, double perSecond, double warmUpSeconds, double seconds)
      throws IOException, InterruptedException {
    return open(ports, perSecond, warmUpSeconds, seconds, seconds, (at, of, latest) -> {});
  }

  /** Sends at a fixed rate, and reports each so many seconds. */
  LoadResult open(
      List<Integer> ports,
      double perSecond,
      double warmUpSeconds,
      double seconds,
      double stepSeconds,
      LoadProgress progress)
      throws IOException, InterruptedException {
    LoadPlan.Timing timing =
        new LoadPlan.Timing(
            Math.round(perSecond), nanos(warmUpSeconds), nanos(seconds), nanos(stepSeconds));
    return run(ports, MOST_IN_FLIGHT, timing, progress);
  }

  /** Sends as fast as it is answered, with a fixed number of requests under way. */
  LoadResult flatOut(List<Integer> ports, int inFlight, double seconds)
      throws IOException, InterruptedException {
    return run(
        ports,
        Math.max(1, inFlight / (CONNECTIONS * ports.size())),
        new LoadPlan.Timing(0, 0, nanos(seconds), nanos(seconds)),
        (at, of, latest) -> {});
  }

  private LoadResult run(
      List<Integer> ports, int inFlight, LoadPlan.Timing timing, LoadProgress progress)
      throws IOException, InterruptedException {
    List<LoadPlan.Target> targets =
        ports.stream()
            .map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .map(address -> new LoadPlan.Target("127.0.0.1", address))
            .toList();
    LoadPlan plan =
        new LoadPlan(
            door,
            targets,
            new LoadPlan.Connections(
                CONNECTIONS * ports.size(), inFlight, LoadPlan.Loops.polling(REST_NANOS)),
            timing,
            requests,
            LoadPlan.Access.OPEN);
    return new LoadGenerator(plan, Ticker.system()).run(progress);
  }

  private static long nanos(double seconds) {
    return (long) (seconds * 1e9);
  }
}
