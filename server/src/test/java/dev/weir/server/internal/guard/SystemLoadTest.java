package dev.weir.server.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.LoadReader;
import dev.weir.server.RunningServer;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the load signals for the elastic rules of a server. */
class SystemLoadTest {
  private static final String ELASTIC =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: day, requests_per_unit: 2, throttle: {elastic: 50%}}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private double cpu = 0.25;

  private SystemLoad load(String... flags) {
    return new SystemLoad(
        ServerSettings.of(Map.of(flags[0], flags[1], "load-keep", "5s")), ticker, () -> cpu);
  }

  @Test
  void cpu_isTheHigherOfTheLastTwoLooks_untilThatIsTooOld() {
    SystemLoad load = load("load-signal", "cpu");
    assertThat(load.load()).isNaN();
    load.poll();
    cpu = 0.75;
    assertThat(load.load()).isEqualTo(0.25);
    load.poll();
    assertThat(load.load()).isEqualTo(0.75);
    cpu = 0;
    load.poll();
    assertThat(load.load()).isEqualTo(0.75);
    load.poll();
    assertThat(load.load()).isZero();
    ticker.advance(Duration.ofSeconds(5).toNanos() + 1);
    assertThat(load.load()).isNaN();
  }

  @Test
  void cpuThatIsNotKnown_isNoLoad() {
    SystemLoad load = load("load-signal", "cpu");
    cpu = -1;
    load.poll();
    assertThat(load.load()).isNaN();
  }

  @Test
  void processorsOfThisMachine_haveALoad() {
    SystemLoad load = SystemLoad.of(ServerSettings.defaults(), ticker);
    load.poll();
    load.poll();
    assertThat(load.load()).isBetween(0.0, 1.0);
  }

  @Test
  void pushed_isWhatWasToldLast_untilThatIsTooOld() {
    SystemLoad load = load("load-signal", "pushed");
    load.poll();
    assertThat(load.load()).isNaN();
    load.push(0.4);
    ticker.advance(Duration.ofSeconds(5).toNanos());
    assertThat(load.load()).isEqualTo(0.4);
    ticker.advance(1);
    assertThat(load.load()).isNaN();
  }

  @Test
  void inFlight_areThoseWithoutAnAnswer() {
    SystemLoad load =
        new SystemLoad(
            ServerSettings.of(Map.of("load-signal", "in-flight", "load-in-flight", "4")),
            ticker,
            () -> cpu);
    List<String> answers = new ArrayList<>();
    Consumer<? super String> first = load.counting(1, answers::add);
    Consumer<? super String> second = load.counting(2, answers::add);
    assertThat(load.load()).isEqualTo(0.75);
    first.accept("a");
    assertThat(load.load()).isEqualTo(0.5);
    second.accept("b");
    assertThat(load.load()).isZero();
    assertThat(answers).containsExactly("a", "b");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"load\": 0.42} | 0.42",
        "{\"load\":0} | 0",
        "{\"load\": 7} | 7",
        "{\"load\": 1e-3} | 0.001"
      })
  void body_isALoad(String body, double load) throws Exception {
    assertThat(LoadReader.read(body.getBytes(StandardCharsets.UTF_8))).isEqualTo(load);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | body: no load (",
        "{} | body: no load (",
        "[0.4] | body: no load (",
        "{\"load\": \"0.4\"} | body: no load (",
        "{\"cpu\": 0.4} | body: no load (",
        "{\"load\": -0.1} | load: -0.1 (",
        "{\"load\": 1e999} | load: 1e999 (",
        "{\"load\": 0.4, \"for\": 3} | body: more than a load (",
        "{\"load\": 0.4} {} | body: more than a load (",
        "{\"load\": nix} | nix"
      })
  void bodyThatIsNone_isRefused(String body, String problem) {
    assertThatThrownBy(() -> LoadReader.read(body.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(BadRequest.class)
        .hasMessageContaining(problem);
  }

  private static Map<String, String> rules(Path folder) throws Exception {
    return Map.of("rules", Files.writeString(folder.resolve("rules.yaml"), ELASTIC).toString());
  }

  private static List<Integer> request(RunningServer running, int times) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      statuses.add(running.check("user", "a").statusCode());
    }
    return statuses;
  }

  @Test
  void elasticRule_listensToWhatIsPosted(@TempDir Path folder) throws Exception {
    try (RunningServer running =
        RunningServer.start(rules(folder), "load-signal", "pushed", "load-keep", "1h")) {
      assertThat(request(running, 3)).containsExactly(200, 200, 429);
      assertThat(running.post("/v1/load", "{\"load\": 0.49}").statusCode()).isEqualTo(204);
      assertThat(request(running, 2)).containsExactly(200, 200);
      assertThat(running.check("user", "a").body()).contains("\"reason\":\"TOLERATED\"");
      assertThat(running.get("/metrics").body())
          .contains("\nweir_load 0.49\n")
          .contains("weir_rule_tolerated_total{policy=\"test.user\",rule=\"test.user\"} 3.0\n");
      assertThat(running.post("/v1/load", "{\"load\": 0.5}").statusCode()).isEqualTo(204);
      assertThat(request(running, 1)).containsExactly(429);

      HttpResponse<String> refused = running.post("/v1/load", "{\"load\": \"low\"}");
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body()).contains("body: no load (expected: ");
      assertThat(request(running, 1)).containsExactly(429);
    }
  }

  @Test
  void softRule_tellsItsLimitInEveryField(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("soft.yaml"),
            ELASTIC
                .replace("requests_per_unit: 2", "requests_per_unit: 4")
                .replace("elastic", "soft"));
    try (RunningServer running = RunningServer.start(Map.of("rules", file.toString()))) {
      assertThat(request(running, 5)).containsOnly(200);
      HttpResponse<String> sixth = running.check("user", "a");
      assertThat(sixth.statusCode()).isEqualTo(200);
      assertThat(sixth.headers().firstValue("RateLimit-Policy"))
          .hasValue("\"test.user\";q=4;w=86400");
      assertThat(sixth.headers().firstValue("RateLimit").orElseThrow()).contains(";r=0;");
      assertThat(sixth.body()).contains("\"limit\":4,", "\"remaining\":0,", "\"TOLERATED\"");
      HttpResponse<String> refused = running.check("user", "a");
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).contains("allows 4 requests", "\"limit\":4,");
    }
  }

  @Test
  void elasticRule_listensToTheProcessors_unlessToldOtherwise(@TempDir Path folder)
      throws Exception {
    try (RunningServer running = RunningServer.start(rules(folder))) {
      HttpResponse<String> refused = running.post("/v1/load", "{\"load\": 0.1}");
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).contains("--load-signal: cpu (expected: pushed)");
      assertThat(running.get("/metrics").body()).containsPattern("\nweir_load [0-9]");
    }
  }
}
