package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.RedisServer;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of two servers and a real Redis, from port to port. */
class SharedServersTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: exact
          rate_limit: {unit: day, requests_per_unit: 20}
        - key: lenient
          rate_limit: {unit: day, requests_per_unit: 20, on_failure: allow}
        - key: own
          rate_limit: {unit: day, requests_per_unit: 20, on_failure: local, local_share: 25%}
      """;

  private static final Map<String, String> DENIED =
      Map.of(
          "/v1/check", "503 retry-after=1 .*temporary-reduced-capacity.*\"reason\":\"UNCERTAIN\".*",
          "/v1/check/batch",
              "200 .*\"status\":503,.*\"reason\":\"UNCERTAIN\",\"cause\":\"[a-z]+\",\"allowed\":false.*",
          "/json", "429 retry-after=none .\"overallCode\":\"OVER_LIMIT\".*",
          "ShouldRateLimit", "overall_code: OVER_LIMIT .*",
          "CheckBatch", ".*reason: REASON_UNCERTAIN retry_after_ms: 1000 .*",
          "CheckStream", ".*reason: REASON_UNCERTAIN retry_after_ms: 1000 .*",
          "WEIR.CHECK", "\\*7\\|:0\\|:20\\|:0\\|:1000\\|.*\\|UNCERTAIN\\|");

  private static final Map<String, String> FORGIVEN =
      Map.of(
          "/v1/check", "200 .*\"allowed\":true.*\"reason\":\"UNCERTAIN\".*",
          "/v1/check/batch", "200 .*\"allowed\":true.*\"reason\":\"UNCERTAIN\".*",
          "/json", "200 .*\"overallCode\":\"OK\".*",
          "ShouldRateLimit", "overall_code: OK .*",
          "CheckBatch", ".*allowed: true .*reason: REASON_UNCERTAIN .*",
          "CheckStream", ".*allowed: true .*reason: REASON_UNCERTAIN .*",
          "WEIR.CHECK", "\\*7\\|:1\\|:20\\|.*\\|UNCERTAIN\\|");

  @TempDir private Path folder;
  private final List<RunningServer> servers = new ArrayList<>();
  private final List<EveryDoor> doors = new ArrayList<>();
  private RedisServer redis;
  private LogCapture log;

  @BeforeEach
  void startRedis() {
    log = new LogCapture();
    redis = RedisServer.start("requirepass \"p@ss:/# w\"");
  }

  @AfterEach
  void stop() throws IOException {
    for (EveryDoor each : doors) {
      each.close();
    }
    servers.forEach(RunningServer::close);
    redis.close();
    log.close();
  }

  private void startServer() throws Exception {
    startServer("20s");
  }

  private void startServer(String storeTimeout) throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    Path password = Files.writeString(folder.resolve("password"), "p@ss:/# w\n");
    RunningServer server =
        RunningServer.start(
            Map.of("rules", rules.toString()),
            "store",
            "redis://127.0.0.1:" + redis.port(),
            "store-password-file",
            password.toString(),
            "store-timeout",
            storeTimeout,
            "store-after-crash",
            "amnesty",
            "request-timeout",
            "1m");
    servers.add(server);
    doors.add(new EveryDoor(server.server));
  }

  private void awaitAvailable(boolean available) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (RunningServer server : servers) {
      while ((server.metric("weir_store_available") == 1) != available) {
        assertThat(System.nanoTime()).as("the store's coming and going").isLessThan(deadline);
        LockSupport.parkNanos(10_000_000);
      }
    }
  }

  private List<Map<String, CompletableFuture<String>>> askAll(String key, int times) {
    return askAll(key, "x", times);
  }

  private List<Map<String, CompletableFuture<String>>> askAll(String key, String value, int times) {
    List<Map<String, CompletableFuture<String>>> asked = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      doors.forEach(each -> asked.add(each.request(key, value)));
    }
    return asked;
  }

  private static int granted(List<Map<String, CompletableFuture<String>>> asked) throws Exception {
    int granted = 0;
    for (Map<String, CompletableFuture<String>> answers : asked) {
      for (CompletableFuture<String> each : answers.values()) {
        String answer = each.get(60, TimeUnit.SECONDS);
        granted +=
            answer.matches(
                    "(\\*7\\|:1|.*\"allowed\":true|.*\"overallCode\":\"OK\"|overall_code: OK"
                        + "|.*allowed: true).*")
                ? 1
                : 0;
      }
    }
    return granted;
  }

  private void assertAnswers(String key, Map<String, String> expected) throws Exception {
    // A value that was not refused before: a refusal is kept for a moment.
    for (Map<String, CompletableFuture<String>> answers : askAll(key, "y", 1)) {
      for (Map.Entry<String, CompletableFuture<String>> each : answers.entrySet()) {
        assertThat(each.getValue().get(60, TimeUnit.SECONDS))
            .as(each.getKey())
            .matches(expected.get(each.getKey()));
      }
    }
  }

  @Test
  void limit_isSharedByAllDoorsOfAllServers_throughTheStoresLossAndReturn() throws Exception {
    startServer();
    startServer();
    awaitAvailable(true);
    assertThat(granted(askAll("exact", 3))).isEqualTo(20);

    redis.kill();
    awaitAvailable(false);
    assertAnswers("exact", DENIED);
    assertAnswers("lenient", FORGIVEN);
    assertThat(granted(askAll("own", 2))).as("a quarter of 20 each").isEqualTo(10);
    assertThat(servers.get(0).get("/healthcheck").statusCode()).isEqualTo(200);
    assertThat(servers.get(0).get("/metrics").body())
        .contains("weir_store_failures_total{kind=\"open\"} ", "weir_uncertain_total 14.0\n");

    redis.restart();
    awaitAvailable(true);
    assertThat(granted(askAll("exact", 3))).as("it has kept nothing").isEqualTo(20);
  }

  @Test
  void bucketsOfCallers_areSharedByAllServers_throughTheStoresLossAndReturn() throws Exception {
    startServer();
    startServer();
    awaitAvailable(true);
    try (RespClient one = new RespClient(servers.get(0).server.respPort());
        RespClient two = new RespClient(servers.get(1).server.respPort())) {
      String[] cell = {"CL.THROTTLE", "k", "2", "1", "86400"};
      String[] crab = {"THROTTLE", "k", "3", "1", "86400"};
      assertThat(one.throttle(cell)).startsWith(0L, 3L, 2L, -1L);
      assertThat(two.throttle(crab)).startsWith(1L, 3L, 1L);
      assertThat(one.throttle(crab)).startsWith(1L, 3L, 0L);
      assertThat(two.throttle(cell)).startsWith(1L, 3L, 0L, 86_400L);
      assertThat(two.throttle("CL.THROTTLE", "k", "2", "1", "86400", "4"))
          .as("never fits")
          .startsWith(1L, 3L, 0L, -1L);
      assertThat(one.throttle("CL.THROTTLE", "other", "2", "1", "86400", "0"))
          .as("looks only")
          .containsExactly(0L, 3L, 3L, -1L, 0L);
      assertThat(two.exchange("DEL", "k", "other")).isEqualTo(":1|");
      assertThat(one.throttle(cell)).as("reset for both").startsWith(0L, 3L, 2L);
      assertThat(two.throttle(cell)).startsWith(0L, 3L, 1L);
      assertThat(allowedOf(100, one, two)).isEqualTo(40);
      String[] increx = {"INCREX", "k", "UBOUND", "3", "EX", "86400", "ENX"};
      assertThat(one.exchange(increx)).isEqualTo("*2|:1|:1|");
      assertThat(two.exchange(increx)).isEqualTo("*2|:2|:1|");
      assertThat(one.exchange(increx)).isEqualTo("*2|:3|:1|");
      assertThat(two.exchange(increx)).isEqualTo("*2|:3|:0|");

      redis.kill();
      awaitAvailable(false);
      for (RespClient each : List.of(one, two)) {
        each.command(cell).command("PING").command("DEL", "k");
        assertThat(each.reply())
            .isEqualTo("-UNCERTAIN the store did not decide (open), nothing was admitted|");
        assertThat(each.reply()).isEqualTo("+PONG|");
        assertThat(each.reply()).isEqualTo(":0|");
      }
      redis.restart();
      awaitAvailable(true);
      assertThat(one.throttle(cell)).as("it has kept nothing").startsWith(0L, 3L, 2L);
      assertThat(two.throttle(cell)).startsWith(0L, 3L, 1L);
    }
  }

  /** Sends the given number of requests from each client, all at once, for a key of 40 permits. */
  private static int allowedOf(int times, RespClient... clients) throws Exception {
    for (RespClient each : clients) {
      each.send("THROTTLE hot 40 1 86400\r\n".repeat(times));
    }
    int allowed = 0;
    for (RespClient each : clients) {
      for (int i = 0; i < times; i++) {
        allowed += each.reply().startsWith("*5|:1|") ? 1 : 0;
      }
    }
    return allowed;
  }

  @Test
  void storeThatHangs_isAnErrorWithinTheTimeout() throws Exception {
    startServer("300ms");
    try (RespClient client = new RespClient(servers.get(0).server.respPort());
        RespClient pausing = new RespClient(redis.port())) {
      assertThat(pausing.exchange("AUTH", "p@ss:/# w")).isEqualTo("+OK|");
      AtomicInteger tried = new AtomicInteger();
      // A machine that stands still for 300 ms makes the store late before it hangs.
      Retried.run(
          () -> {
            assertThat(pausing.exchange("CLIENT", "UNPAUSE")).isEqualTo("+OK|");
            awaitAvailable(true);
            String key = "k" + tried.incrementAndGet();
            assertThat(client.throttle("THROTTLE", key, "3", "1", "86400")).startsWith(1L, 3L, 2L);
            assertThat(pausing.exchange("CLIENT", "PAUSE", "60000")).isEqualTo("+OK|");
            long asked = System.nanoTime();
            assertThat(client.exchange("THROTTLE", key, "3", "1", "86400"))
                .startsWith("-UNCERTAIN ");
            assertThat(System.nanoTime() - asked)
                .as("a timeout, and far from the 60 s of the pause")
                .isBetween(TimeUnit.MILLISECONDS.toNanos(250), TimeUnit.SECONDS.toNanos(15));
          });
    }
  }

  @Test
  void serverWithoutItsStore_startsAndSaysSo_andFindsItLater() throws Exception {
    redis.kill();
    startServer();
    String line = log.await(" does not decide (");
    assertThat(line)
        .startsWith("store: redis://127.0.0.1:" + redis.port() + " does not decide (")
        .contains("connection refused")
        .endsWith("); until it does, rules answer by their on_failure: 1 deny, 1 allow, 1 local");
    assertThat(servers.get(0).get("/healthcheck").statusCode()).isEqualTo(200);
    assertAnswers("exact", DENIED);
    redis.restart();
    log.await("store: redis://127.0.0.1:" + redis.port() + " decides");
    assertThat(granted(askAll("exact", 3))).isEqualTo(20);
  }
}
