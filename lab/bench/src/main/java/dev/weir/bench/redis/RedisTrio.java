package dev.weir.bench.redis;

import dev.weir.bench.Program;
import dev.weir.bench.cluster.ClusterMembers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A redis-server with two replicas, each of which flushes its writes at once, and three of Weir's
 * servers that count in it. As many processes write as in a cluster of three.
 */
public final class RedisTrio implements AutoCloseable {
  private static final int SERVERS = 3;
  private static final Pattern SERVER_READY =
      Pattern.compile("ready: http on .*resp on \\S+:(\\d+)");

  private final Path folder = Files.createTempDirectory("weir-redis-trio");
  private final List<Program> started = new ArrayList<>();
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
    String port = RedisServer.durable(started, folder.resolve("master"), null);
    for (int i = 1; i < SERVERS; i++) {
      RedisServer.durable(started, folder.resolve("replica" + i), port);
    }
    for (int i = 0; i < SERVERS; i++) {
      Matcher ready =
          Program.start(
              started,
              SERVER_READY,
              List.of(
                  "env",
                  "WEIR_JAVA_OPTS=" + ClusterMembers.JVM,
                  home + "/weir",
                  "serve",
                  "--store",
                  "redis://127.0.0.1:" + port,
                  "--store-replicas",
                  Integer.toString(confirming),
                  "--rules",
                  rules.toString(),
                  "--port",
                  "0",
                  "--grpc-port",
                  "0",
                  "--resp-port",
                  "0"));
      ports.add(Integer.parseInt(ready.group(1)));
    }
  }

  /** Returns the servers' ports for Redis's protocol. */
  public List<Integer> ports() {
    return ports;
  }

  /** Returns the processor time of servers and Redis, in nanoseconds. */
  public double cpuNanos() {
    return started.stream()
        .mapToDouble(
            each ->
                ProcessHandle.of(each.pid())
                    .flatMap(process -> process.info().totalCpuDuration())
                    .map(Duration::toNanos)
                    .orElse(0L))
        .sum();
  }

  @Override
  public void close() throws IOException {
    for (int i = started.size() - 1; i >= 0; i--) {
      started.get(i).close();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted((a, b) -> b.compareTo(a)).forEach(each -> each.toFile().delete());
    }
  }
}
