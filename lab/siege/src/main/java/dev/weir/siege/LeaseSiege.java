package dev.weir.siege;

import dev.weir.Reason;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.FaultProxy;
import dev.weir.testkit.WindowChecker;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A siege in which four client processes request five times a leased limit from a server, through a
 * network that loses every tenth reply. Meanwhile clients are stopped and go on, and the server is
 * killed and comes back. The server counts in a Redis, so a new server has the grants of the old
 * one.
 */
final class LeaseSiege {
  static final long LIMIT = 200;
  static final long WINDOW_NANOS = 1_000_000_000L;

  private static final int CLIENTS = 4;
  private static final int TIMES_THE_LIMIT = 5;
  private static final int EVERY_TENTH = 10;
  private static final long MILLI = 1_000_000L;

  /**
   * The time that clients get to end: a client that is stopped until the end still has to write its
   * report.
   */
  private static final long END_SECONDS = 120;

  private static final String RULES =
      """
      domain: %s
      descriptors:
        - key: %s
          rate_limit:
            {unit: second, requests_per_unit: %d, store: shared, consistency: leased,
             sync_interval: 200ms}
      """
          .formatted(LeaseClient.DOMAIN, LeaseClient.KEY, LIMIT);

  /**
   * The result of a siege.
   *
   * @param excess the permits beyond the limit that some window certainly holds
   * @param local the decisions that were made without a call
   * @param dropped the replies that the network has lost
   * @param stopped the number of times that a client was stopped
   */
  record Outcome(
      long excess,
      long asked,
      long admitted,
      long local,
      long messages,
      int dropped,
      int stopped) {}

  private final Path folder;
  private final long seconds;
  private final SplittableRandom random;

  LeaseSiege(Path folder, long seconds, long seed) {
    this.folder = folder;
    this.seconds = seconds;
    random = new SplittableRandom(seed);
  }

  Outcome run() throws IOException, InterruptedException {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    List<ChildProcess> clients = new ArrayList<>();
    try (RedisServer redis = RedisServer.start()) {
      ServerProcess server = start(0, rules, redis);
      try (FaultProxy proxy = new FaultProxy(server.target().grpc())) {
        proxy.cutReplies(EVERY_TENTH);
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(client(i, proxy.port()));
        }
        int stopped = stopAndGoOn(clients, seconds * WINDOW_NANOS / 3);
        server.close(); // kill -9
        stopped += stopAndGoOn(clients, 500 * MILLI);
        server = start(1, rules, redis);
        proxy.forwardTo(server.target().grpc());
        stopped += stopAndGoOn(clients, seconds * WINDOW_NANOS / 3);
        return outcome(clients, proxy, stopped);
      } finally {
        server.close();
      }
    } finally {
      clients.forEach(ChildProcess::close);
    }
  }

  private ServerProcess start(int number, Path rules, RedisServer redis) throws IOException {
    return ServerProcess.start(
        folder.resolve("server-" + number + ".log"),
        null,
        "--no-warmup",
        "--rules",
        rules.toString(),
        "--store",
        redis.uri());
  }

  private ChildProcess client(int number, int port) throws IOException {
    long gapNanos = CLIENTS * WINDOW_NANOS / (TIMES_THE_LIMIT * LIMIT);
    return ChildProcess.java(
            LeaseClient.class, port + "", gapNanos + "", seconds + "", report(number).toString())
        .options("-Xmx64m")
        .log(folder.resolve("client-" + number + ".log"))
        .start();
  }

  private Path report(int number) {
    return folder.resolve("client-" + number + ".txt");
  }

  /** Stops clients for moments, one after the other; returns the number of stops. */
  private int stopAndGoOn(List<ChildProcess> clients, long forNanos)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + forNanos;
    int stopped = 0;
    while (System.nanoTime() - end < 0) {
      ChildProcess client = clients.get(random.nextInt(clients.size()));
      boolean ended = client.endsWithin(Duration.ofMillis(random.nextLong(20, 150)));
      if (!ended) {
        client.signal("STOP");
        stopped++;
        boolean unused = client.endsWithin(Duration.ofMillis(random.nextLong(50, 600)));
        client.signal("CONT");
      }
    }
    return stopped;
  }

  private Outcome outcome(List<ChildProcess> clients, FaultProxy proxy, int stopped)
      throws IOException, InterruptedException {
    List<WindowChecker.Operation> history = new ArrayList<>();
    long asked = 0;
    long local = 0;
    long messages = 0;
    for (int i = 0; i < clients.size(); i++) {
      if (!clients.get(i).endsWithin(Duration.ofSeconds(seconds + END_SECONDS))) {
        throw new IOException("client " + i + ": has not ended\n" + clients.get(i).output());
      }
      if (!Files.exists(report(i))) {
        throw new IOException("client " + i + ": no report\n" + clients.get(i).output());
      }
      LeaseClient.Report report = LeaseClient.read(report(i));
      asked += report.asked();
      local += report.local();
      messages += report.messages();
      for (LeaseClient.Admission each : report.admissions()) {
        history.add(
            new WindowChecker.Operation(
                "one", 1, each.fromNanos(), each.toNanos(), true, Reason.WITHIN_LIMIT));
      }
    }
    long excess = WindowChecker.certainExcess(history, WINDOW_NANOS, LIMIT);
    return new Outcome(excess, asked, history.size(), local, messages, proxy.lost(), stopped);
  }
}
