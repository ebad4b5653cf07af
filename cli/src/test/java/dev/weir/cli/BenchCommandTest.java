package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import dev.weir.testkit.Ports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test of the command against a real server, and of the inputs that it refuses. */
class BenchCommandTest {
  private static final int LIMIT = 2;

  @TempDir private static Path folder;
  private static WeirServer server;

  @BeforeAll
  static void start() throws Exception {
    Path rules =
        Files.writeString(
            folder.resolve("rules.yaml"),
            """
            domain: demo
            descriptors:
              - key: user
                rate_limit: {unit: day, requests_per_unit: %d}
              - key: grpc
                rate_limit: {unit: day, requests_per_unit: %d}
              - key: http
                rate_limit: {unit: day, requests_per_unit: %d}
              - key: json
                rate_limit: {unit: day, requests_per_unit: %d}
              - key: resp-rules
                rate_limit: {unit: day, requests_per_unit: %d}
            """
                .formatted(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT));
    server = WeirServer.start(ServerOptions.of(free("rules", rules.toString())));
  }

  private static Map<String, String> free(String name, String value) {
    return Map.of(
        "port", "0", "grpc-port", "0", "resp-port", "0", "no-warmup", "true", name, value);
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static Ran bench(String door, String... more) {
    int port =
        switch (door) {
          case "grpc" -> server.grpcPort();
          case "resp", "resp-rules" -> server.respPort();
          default -> server.httpPort();
        };
    List<String> all =
        new ArrayList<>(List.of("bench", "--door", door, "--target", "127.0.0.1:" + port));
    all.addAll(List.of("--connections", "2", "--duration", "300ms"));
    all.addAll(List.of(more));
    return Ran.weir(all.toArray(new String[0]));
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http", "json", "resp-rules"})
  void closedLoop_countsWhatTheRulesSay(String door) {
    Ran ran =
        bench(
            door,
            "--descriptor",
            door,
            "--keys",
            "1",
            "--in-flight",
            "4",
            "--warmup",
            "0s",
            "--json",
            "-");

    assertThat(ran.status()).as(ran.err()).isZero();
    BenchJson json = BenchJson.of(ran.out());
    assertThat(json.number("errors")).as(ran.out()).isZero();
    assertThat(json.number("unanswered")).isZero();
    // However slow they are, 2 connections send the 4 requests that they may have in flight.
    assertThat(json.number("allowed")).isEqualTo(LIMIT);
    assertThat(json.number("denied")).isGreaterThanOrEqualTo(2 * 4 - LIMIT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http", "resp"})
  void openLoop_sendsAsManyAsAreDue(String door) {
    double answered = 0;
    // If the machine stands still for these 300 ms, all requests are left unsent.
    for (int left = 8; left > 0 && answered == 0; left--) {
      Ran ran = bench(door, "--rate", "200/s", "--warmup", "100ms", "--json", "-");
      assertThat(ran.status()).as(ran.err()).isZero();
      BenchJson json = BenchJson.of(ran.out());
      answered = json.number("answered");
      assertThat(answered + json.number("unanswered")).isEqualTo(60);
    }
    assertThat(answered).isPositive();
  }

  @Test
  void json_hasTheFieldsThatAreDocumented() throws Exception {
    Path file = folder.resolve("result.json");

    Ran ran = bench("http", "--warmup", "0s", "--json", file.toString());

    assertThat(ran.out()).contains("answered", "p99.9");
    BenchJson json = BenchJson.of(Files.readString(file));
    String page = Files.readString(Path.of("..", "docs", "bench.md"));
    Map<String, Object> all = new LinkedHashMap<>();
    json.root().forEach((name, value) -> all.put(String.valueOf(name), "field"));
    for (String object : List.of("options", "latency_us")) {
      json.fields(object).forEach(name -> all.put(name, "field of " + object));
    }
    assertThat(json.seconds()).isNotEmpty();
    json.seconds().get(0).keySet().forEach(name -> all.put(String.valueOf(name), "second"));
    assertThat(all).hasSizeGreaterThan(30);
    all.forEach(
        (name, where) -> assertThat(page).as("%s %s", where, name).contains("`" + name + "`"));

    double sum = 0;
    for (Map<?, ?> second : json.seconds()) {
      sum += BenchJson.number(second, "answered");
    }
    assertThat(sum).isEqualTo(json.number("answered"));
    Map<?, ?> latency = json.object("latency_us");
    double p99 = BenchJson.number(latency, "p99");
    assertThat(BenchJson.number(latency, "p50")).isPositive().isLessThanOrEqualTo(p99);
    assertThat(BenchJson.number(latency, "max")).isGreaterThanOrEqualTo(p99);
  }

  @Test
  void table_isShortAndReadable() {
    Ran ran = bench("grpc", "--warmup", "0s");

    assertThat(ran.status()).isZero();
    assertThat(ran.out())
        .startsWith("grpc at 127.0.0.1:" + server.grpcPort() + ", 2 connections of 16 in flight, ")
        .contains("answered  ", "/s for ", "allowed  ", "denied  ", "errors  ", "latency ms")
        .doesNotContain("unanswered", "lost");
    assertThat(ran.err()).isEmpty();
  }

  @Test
  void answersWithoutADecision_areErrorsByKind() throws Exception {
    String key = "k".repeat(600);
    try (WeirServer strict = WeirServer.start(ServerOptions.of(free("max-key-length", "100")))) {
      BenchJson http = strict(strict.httpPort(), "http", key);
      assertThat(http.fields("errors_by_kind")).containsExactly("http 400");
      assertThat(http.number("answered")).isZero();
      assertThat(strict(strict.grpcPort(), "grpc", key).fields("errors_by_kind"))
          .containsExactly("grpc unknown");
    }
  }

  private static BenchJson strict(int port, String door, String key) {
    Ran ran =
        Ran.weir(
            "bench",
            "--door",
            door,
            "--target",
            "localhost:" + port,
            "--descriptor",
            key,
            "--duration",
            "200ms",
            "--warmup",
            "0s",
            "--json",
            "-");
    assertThat(ran.status()).as(ran.err()).isEqualTo(3);
    return BenchJson.of(ran.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http", "resp"})
  void nobodyThere_isOneClearError(String door) throws Exception {
    int port = Ports.free();

    Ran ran = Ran.weir("bench", "--door", door, "--target", "127.0.0.1:" + port);

    assertThat(ran.status()).isEqualTo(3);
    assertThat(ran.err()).startsWith("weir: 127.0.0.1:" + port).contains("refused", "weir serve");
    assertThat(ran.err().lines()).hasSize(1);
  }

  @Test
  void targets_thatAreNotThisMachine_areRefused() {
    for (String target : List.of("192.0.2.1:8081", "192.0.2.1", "[2001:db8::1]:8081")) {
      Ran ran = Ran.weir("bench", "--target", target);
      assertThat(ran.status()).isEqualTo(2);
      assertThat(ran.err()).startsWith("weir: --target: " + target).contains("--allow-remote");
    }
  }

  @Test
  void badFlags_areOneClearErrorEach() {
    Map<List<String>, String> wrong = new LinkedHashMap<>();
    wrong.put(List.of("--door", "smtp"), "--door: smtp (expected: one of grpc, http, json, resp, ");
    wrong.put(List.of("--target", "a b"), "--target: a b (expected: host:port)");
    wrong.put(List.of("--target", "127.0.0.1:0"), "--target: port: 0 (expected: 1..65535)");
    wrong.put(List.of("--target", "http://localhost"), "--target: http://localhost (expected: ");
    wrong.put(List.of("--connections", "0"), "--connections: 0 (expected: 1..10000)");
    wrong.put(List.of("--connections", "10001"), "--connections: 10001 (expected: 1..10000)");
    wrong.put(
        List.of("--connections", "many"),
        "--connections: many (expected: a whole number, 1..10000)");
    wrong.put(List.of("--in-flight", "-1"), "--in-flight: -1 (expected: 1..10000)");
    wrong.put(
        List.of("--connections", "10000", "--in-flight", "101"),
        "--connections, --in-flight: 10000 x 101 (expected: at most 1000000 in all)");
    wrong.put(List.of("--rate", "0"), "--rate: 0 (expected: 1..10000000 requests a second)");
    wrong.put(List.of("--rate", "9/m"), "--rate: 9/m (expected: 1..10000000 requests a second)");
    wrong.put(List.of("--duration", "61m"), "--duration: 61m (expected: 100ms..1h, for example");
    wrong.put(List.of("--duration", "10"), "--duration: 10 (expected: 100ms..1h, for example");
    wrong.put(List.of("--duration", "99ms"), "--duration: 99ms (expected: 100ms..1h, for example");
    wrong.put(List.of("--warmup", "2h"), "--warmup: 2h (expected: 0s..1h, for example");
    wrong.put(List.of("--keys", "0"), "--keys: 0 (expected: 1..100000000)");
    wrong.put(
        List.of("--draw", "normal"), "--draw: normal (expected: one of uniform, zipf, in-turn)");
    wrong.put(List.of("--denied", "101%"), "--denied: 101% (expected: 0..1 or 0%..100%)");
    wrong.put(List.of("--domain", ""), "--domain: \"\" (expected: 1..1024 characters");
    wrong.put(List.of("--descriptor", "a\nb"), "--descriptor: \"a\nb\" (expected: 1..1024 ");
    wrong.put(List.of("--throttle", "1,2"), "--throttle: 1,2 (expected: max burst, count and");
    wrong.put(List.of("--throttle", "1,0,60"), "--throttle: 1,0,60 (expected: max burst, ");
    wrong.put(List.of("--token-file", "nowhere"), "--token-file: nowhere cannot be read (expec");
    wrong.put(List.of("--tls-ca", "nowhere"), "--tls-ca: nowhere cannot be read (expected: a fil");
    wrong.forEach(
        (flags, message) -> {
          List<String> all = new ArrayList<>(List.of("bench"));
          all.addAll(flags);
          Ran ran = Ran.weir(all.toArray(new String[0]));
          assertThat(ran.status()).as("%s", flags).isEqualTo(2);
          assertThat(ran.err()).as("%s", flags).startsWith("weir: " + message);
        });
  }
}
