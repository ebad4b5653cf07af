package dev.weir.bench.peers;

import dev.weir.bench.Tools;
import dev.weir.bench.wire.Wire;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Other rate limiters on one processor, over the loopback interface: environment variables have the
 * paths of their programs. Each has limits that no run reaches.
 */
final class Peers {
  /** A request of throttlecrab, for wrk. */
  static final String THROTTLECRAB =
      "{\"key\":\"user:%d\",\"max_burst\":1000000000,\"count_per_period\":1000000000,\"period\":1}";

  /** A request of gubernator, for wrk. */
  static final String GUBERNATOR =
      "{\"requests\":[{\"name\":\"bench\",\"unique_key\":\"user:%d\",\"hits\":\"1\","
          + "\"limit\":\"1000000000\",\"duration\":\"60000\",\"algorithm\":\"TOKEN_BUCKET\"}]}";

  /** The rules for envoyproxy/ratelimit, in the same format as Weir's own. */
  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: user
          rate_limit: {unit: second, requests_per_unit: 4294967295}
      """;

  /** The longest time until a program accepts connections. */
  private static final Duration READY = Duration.ofSeconds(30);

  private static final Duration PAUSE = Duration.ofMillis(100);

  private final Wire wire;
  private final Map<String, String> given;
  private final Map<String, String> ports = new HashMap<>();
  private final List<String> missing = new ArrayList<>();

  private Peers(Wire wire, Map<String, String> given) {
    this.wire = wire;
    this.given = given;
  }

  /**
   * Starts the peers whose programs are given.
   *
   * @param given the variables WEIR_BENCH_THROTTLECRAB, WEIR_BENCH_RATELIMIT and
   *     WEIR_BENCH_GUBERNATOR: the paths of programs
   */
  static Peers start(Wire wire, Map<String, String> given) throws IOException {
    Peers peers = new Peers(wire, given);
    if (Tools.there("redis-server")) {
      peers.ports.put("redis", wire.redisOnOneProcessor());
    } else {
      peers.missing.add("Redis: left out, redis-server is not there.");
    }
    peers.throttlecrab();
    peers.ratelimit();
    peers.gubernator();
    return peers;
  }

  /** Returns a peer's port, or null if it is left out. */
  @Nullable String port(String name) {
    return ports.get(name);
  }

  /** Returns a line for each peer that is left out. */
  List<String> missing() {
    return missing;
  }

  private void throttlecrab() throws IOException {
    String program = program("throttlecrab", "WEIR_BENCH_THROTTLECRAB");
    if (program == null) {
      return;
    }
    String resp = port("throttlecrab resp", freePort());
    String http = port("throttlecrab http", freePort());
    List<String> command = new ArrayList<>(List.of(program, "--log-level", "error"));
    command.addAll(List.of("--redis", "--redis-host", "127.0.0.1", "--redis-port", resp));
    command.addAll(List.of("--http", "--http-host", "127.0.0.1", "--http-port", http));
    start(ChildProcess.of(command), http);
  }

  private void ratelimit() throws IOException {
    String program = program("envoyproxy/ratelimit", "WEIR_BENCH_RATELIMIT");
    String redis = ports.get("redis");
    if (program == null) {
      return;
    }
    if (redis == null) {
      missing.add("envoyproxy/ratelimit: left out, it counts in Redis.");
      return;
    }
    Path rules = Files.createDirectories(wire.folder.resolve("runtime/ratelimit/config"));
    Files.writeString(rules.resolve("bench.yaml"), RULES);
    String http = port("ratelimit http", freePort());
    Map<String, String> environment = new HashMap<>();
    environment.put("RUNTIME_ROOT", wire.folder.resolve("runtime").toString());
    environment.put("RUNTIME_SUBDIRECTORY", "ratelimit");
    environment.put("RUNTIME_WATCH_ROOT", "false");
    environment.put("RUNTIME_IGNOREDOTFILES", "true");
    environment.put("USE_STATSD", "false");
    environment.put("LOG_LEVEL", "error");
    environment.put("REDIS_SOCKET_TYPE", "tcp");
    environment.put("REDIS_URL", "127.0.0.1:" + redis);
    environment.put("HOST", "127.0.0.1");
    environment.put("PORT", http);
    environment.put("GRPC_HOST", "127.0.0.1");
    environment.put("GRPC_PORT", port("ratelimit grpc", freePort()));
    environment.put("DEBUG_HOST", "127.0.0.1");
    environment.put("DEBUG_PORT", freePort());
    start(ChildProcess.of(program).environment(environment), http);
  }

  private void gubernator() throws IOException {
    String program = program("gubernator", "WEIR_BENCH_GUBERNATOR");
    if (program == null) {
      return;
    }
    String http = port("gubernator http", freePort());
    String grpc = "127.0.0.1:" + freePort();
    Map<String, String> environment = new HashMap<>();
    environment.put("GUBER_GRPC_ADDRESS", grpc);
    environment.put("GUBER_ADVERTISE_ADDRESS", grpc);
    environment.put("GUBER_HTTP_ADDRESS", "127.0.0.1:" + http);
    environment.put("GUBER_PEER_DISCOVERY_TYPE", "none");
    environment.put("GUBER_CACHE_SIZE", "2000000");
    environment.put("GUBER_LOG_LEVEL", "error");
    start(ChildProcess.of(program).environment(environment), http);
  }

  /** Starts a program on one processor, and waits until it accepts connections. */
  private void start(ChildProcess.Builder program, String port) throws IOException {
    ChildProcess started = wire.started.start(program.within(Tools.onProcessor(0)));
    long end = System.nanoTime() + READY.toNanos();
    while (!accepts(Integer.parseInt(port))) {
      if (started.endsWithin(PAUSE) || System.nanoTime() - end > 0) {
        throw new IOException(
            started
                + ": does not listen on port "
                + port
                + " (expected: it does)\n"
                + started.output());
      }
    }
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static String freePort() {
    return Integer.toString(Ports.free());
  }

  private String port(String name, String port) {
    ports.put(name, port);
    return port;
  }

  private @Nullable String program(String name, String variable) {
    String path = given.getOrDefault(variable, "");
    if (path.isEmpty()) {
      missing.add(name + ": left out, " + variable + " does not name its program.");
      return null;
    }
    return path;
  }
}
