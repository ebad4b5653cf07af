package dev.weir.bench.redis;

import dev.weir.bench.Programs;
import dev.weir.bench.cluster.ClusterMembers;
import dev.weir.testkit.ChildProcess;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A redis-server with two replicas, each of which flushes its writes at once, and three of Weir's
 * servers that count in it. As many processes write as in a cluster of three.
 */
public final class RedisTrio implements AutoCloseable {
  private static final int SERVERS = 3;

  /** The options of a redis-server that answers a write when it is on the disk. */
  private static final String[] DURABLE = {"appendonly yes", "appendfsync always"};

  private static final Pattern SERVER_READY =
      Pattern.compile("ready: http on .*resp on \\S+:(\\d+)");

  private final Path folder = Files.createTempDirectory("weir-redis-trio");
  private final Programs started = new Programs();
  private final List<Integer> ports = new ArrayList<>();

  /**
   * Starts all, and waits until they are ready.
   *
   * @param confirming the number of replicas that confirm a decision before it is answered
   */
  public RedisTrio(String home, String ruleFile, int confirming)
      throws IOException, InterruptedException {
    boolean whole = false;
    try {
      start(home, Files.writeString(folder.resolve("rules.yaml"), ruleFile), confirming);
      whole = true;
    } finally {
      if (!whole) {
        close();
      }
    }
  }

  private void start(String home, Path rules, int confirming)
      throws IOException, InterruptedException {
    RedisServer master = started.add(RedisServer.start(DURABLE));
    for (int i = 1; i < SERVERS; i++) {
      started.add(master.startReplica(DURABLE));
    }
    for (int i = 0; i < SERVERS; i++) {
      Matcher ready =
          started
              .start(
                  ChildProcess.of(
                          home + "/weir",
                          "serve",
                          "--store",
                          master.uri(),
                          "--store-replicas",
                          Integer.toString(confirming),
                          "--rules",
                          rules.toString(),
                          "--port",
                          "0",
                          "--grpc-port",
                          "0",
                          "--resp-port",
                          "0")
                      .environment(Map.of("WEIR_JAVA_OPTS", ClusterMembers.JVM)))
              .await(SERVER_READY);
      ports.add(Integer.parseInt(ready.group(1)));
    }
  }

  /** Returns the servers' ports for Redis's protocol. */
  public List<Integer> ports() {
    return ports;
  }

  /** Returns the processor time of servers and Redis, in nanoseconds. */
  public double cpuNanos() {
    return started.cpuNanos();
  }

  @Override
  public void close() throws IOException {
    started.close();
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted((a, b) -> b.compareTo(a)).forEach(each -> each.toFile().delete());
    }
  }
}
