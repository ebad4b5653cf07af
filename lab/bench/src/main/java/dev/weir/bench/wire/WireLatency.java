package dev.weir.bench.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.weir.bench.Tools;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measurements of each protocol's latency: at shares of the maximum, in the first seconds, and when
 * other clients misbehave; and of the cost of an idle connection. Server and client share all
 * processors.
 */
final class WireLatency {
  private static final int[] SHARES = {25, 50, 80};
  private static final int IDLE_CONNECTIONS = 2_000;
  private static final int FIRST_SECONDS = 10;

  private final String home;

  WireLatency(String home) {
    this.home = home;
  }

  /**
   * Prints the percentiles of each protocol under open-loop load, from the time at which a request
   * was due.
   */
  void shares(Map<String, String> ports) throws IOException, InterruptedException {
    System.out.printf(
        "%n**Latency at shares of the maximum, ms, from when a request was due**%n%n| protocol |"
            + " maximum per second | share | answered per second | p50 | p99 | p99.9 |%n"
            + "|---|---|---|---|---|---|---|%n");
    for (Map.Entry<String, String> door : ports.entrySet()) {
      String[] shape = {
        "--connections", "16", "--in-flight", door.getKey().equals("grpc") ? "20" : "1"
      };
      double most = 0;
      for (int i = 0; i < 2; i++) {
        most = Math.max(most, number(bench(door, 5, shape), "answered_per_second"));
      }
      for (int share : SHARES) {
        List<String> more = new ArrayList<>(List.of(shape));
        more.addAll(List.of("--rate", Long.toString(Math.round(most * share / 100))));
        JsonNode result = bench(door, 5, more.toArray(new String[0]));
        JsonNode latency = result.path("latency_us");
        System.out.printf(
            Locale.ROOT,
            "| %s | %,.0f | %d %% | %,.0f | %.2f | %.2f | %.2f |%n",
            door.getKey(),
            most,
            share,
            number(result, "answered_per_second"),
            number(latency, "p50") / 1_000,
            number(latency, "p99") / 1_000,
            number(latency, "p99_9") / 1_000);
      }
    }
  }

  /** Prints the percentiles of each of the first seconds of a server that has just become ready. */
  void firstSeconds(String httpPort, String respPort, String script)
      throws IOException, InterruptedException {
    System.out.printf(
        "%n**The first seconds after ready: 2 connections at full speed, ms**%n%n"
            + "| second | HTTP /json per second | p50 | p99 | RESP per second | p50 | p99 |%n"
            + "|---|---|---|---|---|---|---|%n");
    for (int second = 1; second <= FIRST_SECONDS; second++) {
      String wrk =
          ChildProcess.of(
                  "wrk",
                  "-t",
                  "1",
                  "-c",
                  "2",
                  "-d",
                  "1s",
                  "--latency",
                  "-s",
                  script,
                  "http://127.0.0.1:" + httpPort)
              .run();
      String csv =
          ChildProcess.of(
                  "redis-benchmark",
                  "-p",
                  respPort,
                  "-c",
                  "2",
                  "-n",
                  "10000",
                  "-r",
                  "100000",
                  "--csv",
                  "CL.THROTTLE",
                  "user:__rand_int__",
                  "100",
                  "100",
                  "60")
              .run();
      String[] row = csv.substring(csv.lastIndexOf("\n\"") + 1).strip().split(",", -1);
      System.out.printf(
          Locale.ROOT,
          "| %d | %,.0f | %s | %s | %,.0f | %.2f | %.2f |%n",
          second,
          Tools.number("Requests/sec: +([0-9.]+)", wrk),
          millis("50%", wrk),
          millis("99%", wrk),
          plain(row[1]),
          plain(row[4]),
          plain(row[6]));
    }
  }

  private static double plain(String quoted) {
    return Double.parseDouble(quoted.replace("\"", ""));
  }

  /** Reads one of wrk's times, such as 84.00us. */
  private static String millis(String percentile, String said) throws IOException {
    for (String line : said.lines().toList()) {
      String text = line.strip();
      if (text.startsWith(percentile)) {
        String value = text.substring(percentile.length()).strip();
        double number = Double.parseDouble(value.replaceAll("[a-z]+", ""));
        double factor = value.endsWith("us") ? 0.001 : value.endsWith("ms") ? 1 : 1_000;
        return String.format(Locale.ROOT, "%.2f", number * factor);
      }
    }
    throw new IOException("no " + percentile + " in\n" + said);
  }

  /** Prints the heap of a connection that has sent one request and is silent since. */
  void idle(long pid, Map<String, String> ports) throws IOException, InterruptedException {
    System.out.printf(
        "%n**An idle connection, bytes of the heap**%n%n| protocol | bytes |%n|---|---|%n");
    for (Map.Entry<String, String> door : ports.entrySet()) {
      String ask =
          door.getKey().equals("http")
              ? "GET /healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n"
              : "PING\r\n";
      List<Socket> open = new ArrayList<>();
      try {
        for (int i = 0; i < 100; i++) {
          open.add(request(door.getValue(), ask));
        }
        long before = heap(pid);
        for (int i = 0; i < IDLE_CONNECTIONS; i++) {
          open.add(request(door.getValue(), ask));
        }
        System.out.printf(
            Locale.ROOT, "| %s | %,d |%n", door.getKey(), (heap(pid) - before) / IDLE_CONNECTIONS);
      } finally {
        for (Socket socket : open) {
          socket.close();
        }
      }
    }
  }

  /** Prints the effect of misbehaving clients on other clients of the RESP port. */
  void abuse(String port) throws IOException, InterruptedException {
    System.out.printf(
        "%n**RESP at 2,000 per second while others misbehave, ms from when a request was due**%n%n"
            + "| | answered | errors | p50 | p99 | p99.9 |%n|---|---|---|---|---|---|%n");
    for (int round = 1; round <= 3; round++) {
      abused("no other connections", port);
      try (WireAbuse abuse = new WireAbuse(Integer.parseInt(port)).begin()) {
        abused("with " + abuse, port);
      }
    }
  }

  private void abused(String who, String port) throws IOException, InterruptedException {
    JsonNode result =
        bench(
            Map.entry("resp", port), 5, "--connections", "4", "--in-flight", "4", "--rate", "2000");
    JsonNode latency = result.path("latency_us");
    System.out.printf(
        Locale.ROOT,
        "| %s | %,.0f | %,.0f | %.2f | %.2f | %.2f |%n",
        who,
        number(result, "answered"),
        number(result, "errors"),
        number(latency, "p50") / 1_000,
        number(latency, "p99") / 1_000,
        number(latency, "p99_9") / 1_000);
  }

  private static Socket request(String port, String text) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    if (socket.getInputStream().read() < 0) {
      throw new IOException("closed");
    }
    return socket;
  }

  /** Returns the bytes of the heap in use after a full collection. */
  private static long heap(long pid) throws IOException {
    String unused = ChildProcess.tool("jcmd", Long.toString(pid), "GC.run").run();
    String histogram = ChildProcess.tool("jcmd", Long.toString(pid), "GC.class_histogram").run();
    return (long) Tools.number("Total +\\d+ +(\\d+)", histogram);
  }

  private JsonNode bench(Map.Entry<String, String> door, int duration, String... more)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(home + "/weir", "bench", "--door", door.getKey()));
    command.addAll(List.of("--target", "127.0.0.1:" + door.getValue(), "--domain", "bench"));
    command.addAll(List.of("--duration", duration + "s", "--warmup", "8s", "--json", "-"));
    command.addAll(List.of(more));
    String said = ChildProcess.of(command).run();
    return new JsonMapper().readTree(said.substring(said.indexOf('{')));
  }

  private static double number(JsonNode object, String name) throws IOException {
    JsonNode number = object.path(name);
    if (!number.isNumber()) {
      throw new IOException(name + ": missing in " + object);
    }
    return number.doubleValue();
  }
}
