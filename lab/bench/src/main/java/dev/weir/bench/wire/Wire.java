package dev.weir.bench.wire;

import dev.weir.bench.Programs;
import dev.weir.bench.Tools;
import dev.weir.bench.peers.PeerTables;
import dev.weir.bench.peers.ScriptLimiter;
import dev.weir.load.Door;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.testkit.ChildProcess;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A comparison of Weir's protocols with other servers, over the loopback interface, with the load
 * generators of the field. In comparisons, server and client have a processor each; rounds
 * alternate, medians count.
 */
public final class Wire {
  private static final String RULES =
      """
      domain: bench
      descriptors:
        - key: user
          rate_limit: {unit: second, requests_per_unit: 4294967295, algorithm: token-bucket}
        - key: default
          rate_limit: {unit: minute, requests_per_unit: 100}
      """;

  public static final String ENVOYS =
      "{\"domain\":\"bench\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"%d\"}]}]}";

  public static final String GRPC = "gRPC ShouldRateLimit, 16 connections of 20 streams";

  public static final String KEY = "user:__rand_int__";

  private static final Pattern READY =
      Pattern.compile("ready: http on .*:(\\d+), grpc on .*:(\\d+), resp on .*:(\\d+)");

  /** A contestant: a name, and a way to get operations per second. */
  public record Contestant(String name, Run run) {}

  public interface Run {
    double perSecond() throws IOException, InterruptedException;
  }

  private final String home;
  private final int rounds;
  public final int seconds;
  public final Path folder;
  public final Programs started = new Programs();

  private Wire(String home, int rounds, int seconds) throws IOException {
    this.home = home;
    this.rounds = rounds;
    this.seconds = seconds;
    this.folder = Files.createTempDirectory("weir-wire");
  }

  /**
   * Runs the comparison. Arguments: the folder of Weir, rounds, seconds of a run, and the wanted
   * parts, separated by commas; or {@code peers} for these alone.
   */
  public static void main(String[] arguments) throws Exception {
    Wire wire =
        new Wire(arguments[0], Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    try {
      if (arguments[3].equals("peers")) {
        new PeerTables(wire).print();
      } else {
        wire.all(Set.of(arguments[3].split(",", -1)));
      }
    } finally {
      wire.started.close();
    }
  }

  private void all(Set<String> parts) throws IOException, InterruptedException {
    if (parts.contains("resp") || parts.contains("grpc") || parts.contains("http")) {
      throughput(parts);
    }
    if (parts.contains("tail")) {
      tail();
    }
    if (parts.contains("first") || parts.contains("latency")) {
      latencies(parts);
    }
  }

  private void tail() throws IOException, InterruptedException {
    WireTail.head();
    Matcher weir = weir();
    WireTail.print("Weir", Door.GRPC, weir.group(2), rounds);
    WireTail.print("Weir", Door.JSON, weir.group(1), rounds);
    WireTail.print("Weir", Door.RESP, weir.group(3), rounds);
    started.close();
    Matcher empty = empty();
    WireTail.print("an empty grpc-java service", Door.GRPC, empty.group(1), rounds);
    WireTail.print("an empty Vert.x handler", Door.JSON, empty.group(2), rounds);
    started.close();
  }

  /** Starts the empty services; the match has the ports of gRPC and HTTP. */
  private Matcher empty() throws IOException {
    return started
        .start(ChildProcess.java(EmptyServices.class).within(Tools.onProcessor(0)))
        .await(Pattern.compile("^ready (\\d+) (\\d+)$"));
  }

  private void throughput(Set<String> parts) throws IOException, InterruptedException {
    Matcher weir = weir();
    Matcher empty = empty();
    if (parts.contains("resp")) {
      resp(weir.group(3));
    }
    if (parts.contains("grpc")) {
      grpc(weir.group(2), empty.group(1));
    }
    if (parts.contains("http")) {
      http(weir.group(1), empty.group(2));
    }
    started.close();
  }

  /** Starts Weir on one processor; the match has the ports of HTTP, gRPC and RESP. */
  public Matcher weir() throws IOException {
    return weir(Tools.onProcessor(0)).await(READY);
  }

  private ChildProcess weir(List<String> within) throws IOException {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    List<String> command = new ArrayList<>(List.of(home + "/weir", "serve"));
    command.addAll(List.of("--rules", rules.toString(), "--port", "0"));
    command.addAll(List.of("--grpc-port", "0", "--resp-port", "0"));
    return started.start(ChildProcess.of(command).within(within));
  }

  private void latencies(Set<String> parts) throws IOException, InterruptedException {
    WireLatency latency = new WireLatency(home);
    ChildProcess server = weir(List.of());
    Matcher weir = server.await(READY);
    if (parts.contains("first") && Tools.there("wrk") && Tools.there("redis-benchmark")) {
      latency.firstSeconds(weir.group(1), weir.group(3), script("/json", ENVOYS).toString());
    }
    if (!parts.contains("latency")) {
      return;
    }
    Map<String, String> ports = new LinkedHashMap<>();
    ports.put("grpc", weir.group(2));
    ports.put("json", weir.group(1));
    ports.put("resp", weir.group(3));
    latency.shares(ports);
    latency.abuse(weir.group(3));
    latency.idle(server.handle().pid(), Map.of("http", weir.group(1), "resp", weir.group(3)));
  }

  private void resp(String port) throws IOException, InterruptedException {
    if (!Tools.there("redis-server") || !Tools.there("redis-benchmark")) {
      System.out.println("\nRESP: not measured, redis-server and redis-benchmark are not there.");
      return;
    }
    String redis = redisOnOneProcessor();
    redis(redis, 64, 8, 3_000_000, "SET", KEY, "abc");
    String sha =
        ChildProcess.of("redis-cli", "-p", redis, "SCRIPT", "LOAD", ScriptLimiter.LUA)
            .run()
            .strip();
    String[] throttle = {"CL.THROTTLE", KEY, "100", "100", "60"};
    String[] check = {"WEIR.CHECK", "bench", "1", "user", KEY};
    String[] plain = {"WEIR.CHECK", "bench", "1", "default", KEY};
    String[] lua = {"EVALSHA", sha, "1", "lua:__rand_int__", "100", "100", "60"};
    table(
        "RESP, pipelined 64 deep, 8 connections, 1 million keys",
        new Contestant("Weir CL.THROTTLE", () -> redis(port, 64, 8, 500_000 * seconds, throttle)),
        new Contestant(
            "Weir WEIR.CHECK, token bucket", () -> redis(port, 64, 8, 500_000 * seconds, check)),
        new Contestant(
            "Weir WEIR.CHECK, default", () -> redis(port, 64, 8, 500_000 * seconds, plain)),
        new Contestant("Redis GET", () -> redis(redis, 64, 8, 500_000 * seconds, "GET", KEY)),
        new Contestant("Redis, the same in Lua", () -> redis(redis, 64, 8, 60_000 * seconds, lua)));
    table(
        "RESP, 50 connections, not pipelined, 1 million keys",
        new Contestant("Weir CL.THROTTLE", () -> redis(port, 1, 50, 50_000 * seconds, throttle)),
        new Contestant(
            "Weir WEIR.CHECK, token bucket", () -> redis(port, 1, 50, 50_000 * seconds, check)),
        new Contestant(
            "Weir WEIR.CHECK, default", () -> redis(port, 1, 50, 50_000 * seconds, plain)),
        new Contestant("Redis GET", () -> redis(redis, 1, 50, 50_000 * seconds, "GET", KEY)),
        new Contestant("Redis, the same in Lua", () -> redis(redis, 1, 50, 30_000 * seconds, lua)));
  }

  /** Starts a redis-server on one processor, and returns its port. */
  public String redisOnOneProcessor() {
    RedisServer redis = started.add(RedisServer.startWithin(Tools.onProcessor(0)));
    return Integer.toString(redis.port());
  }

  public static double redis(String port, int pipeline, int connections, int count, String... what)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("redis-benchmark", "-q", "-p", port, "-r", "1000000"));
    command.addAll(List.of("-P", "" + pipeline, "-c", "" + connections, "-n", "" + count));
    command.addAll(List.of(what));
    return Tools.number(
        ": ([0-9.]+) requests per second",
        ChildProcess.of(command).within(Tools.onProcessor(1)).run());
  }

  private void grpc(String weir, String empty) throws IOException, InterruptedException {
    if (!Tools.there("h2load")) {
      System.out.println("\ngRPC: not measured, h2load is not there.");
      return;
    }
    Path body = grpcBody();
    table(
        GRPC,
        new Contestant("Weir", () -> h2load(weir, body)),
        new Contestant("an empty grpc-java service", () -> h2load(empty, body)));
  }

  /** Writes a request in its form on the connection to a file, and returns the file. */
  public Path grpcBody() throws IOException {
    byte[] message =
        RateLimitRequest.newBuilder()
            .setDomain("bench")
            .addDescriptors(
                RateLimitDescriptor.newBuilder()
                    .addEntries(
                        RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("42")))
            .build()
            .toByteArray();
    Path body = folder.resolve("grpc.bin");
    Files.write(
        body,
        ByteBuffer.allocate(5 + message.length)
            .put((byte) 0)
            .putInt(message.length)
            .put(message)
            .array());
    return body;
  }

  public double h2load(String port, Path body) throws IOException, InterruptedException {
    String said =
        ChildProcess.of(
                "h2load",
                "-D",
                "" + seconds,
                "--warm-up-time",
                "1",
                "-c",
                "16",
                "-m",
                "20",
                "-d",
                body.toString(),
                "-H",
                "content-type: application/grpc",
                "-H",
                "te: trailers",
                "http://127.0.0.1:"
                    + port
                    + "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit")
            .within(Tools.onProcessor(1))
            .run();
    if (Tools.number("(\\d+) failed", said) > 0) {
      throw new IOException("h2load: failed requests\n" + said);
    }
    return Tools.number("finished in .*?, ([0-9.]+) req/s", said);
  }

  private void http(String weir, String empty) throws IOException, InterruptedException {
    if (!Tools.there("wrk")) {
      System.out.println("\nHTTP: not measured, wrk is not there.");
      return;
    }
    String own = "{\"domain\":\"bench\",\"descriptor\":{\"user\":\"%d\"}}";
    table(
        "HTTP, 32 connections, 100 thousand keys",
        new Contestant("Weir /json", () -> wrk(weir, "/json", ENVOYS)),
        new Contestant("Weir /v1/check", () -> wrk(weir, "/v1/check", own)),
        new Contestant("an empty Vert.x handler", () -> wrk(empty, "/json", ENVOYS)));
  }

  private Path script(String path, String body) throws IOException {
    return Files.writeString(
        folder.resolve("wrk.lua"),
        "local body = '"
            + body
            + "'\nlocal head = {['Content-Type'] = 'application/json'}\n"
            + "function request() return wrk.format('POST', '"
            + path
            + "', head, string.format(body, math.random(100000))) end\n");
  }

  public double wrk(String port, String path, String body)
      throws IOException, InterruptedException {
    String said =
        ChildProcess.of(
                "wrk",
                "-t",
                "1",
                "-c",
                "32",
                "-d",
                seconds + "s",
                "-s",
                script(path, body).toString(),
                "http://127.0.0.1:" + port)
            .within(Tools.onProcessor(1))
            .run();
    if (said.contains("Non-2xx")) {
      throw new IOException("wrk: refused requests\n" + said);
    }
    return Tools.number("Requests/sec: +([0-9.]+)", said);
  }

  /** Runs all contestants in turn, and prints medians. */
  public void table(String title, Contestant... contestants)
      throws IOException, InterruptedException {
    new WireTable(started, rounds).print(title, contestants);
  }
}
