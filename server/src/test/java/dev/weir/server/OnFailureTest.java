package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Ports;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of servers whose store is away: the answers of rules without a failure mode of their own.
 */
class OnFailureTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: silent
          rate_limit: {unit: day, requests_per_unit: 8}
        - key: deny
          rate_limit: {unit: day, requests_per_unit: 8, on_failure: deny}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: day, requests_per_unit: 8}
        - key: elastic
          rate_limit: {unit: day, requests_per_unit: 8, throttle: elastic}
        - key: here
          rate_limit: {unit: day, requests_per_unit: 1, store: local}
      """;

  private static final String OVERRIDE =
      "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"any\"}],"
          + "\"limit\":{\"requests_per_unit\":8,\"unit\":\"day\"}}]}";

  @TempDir private Path folder;
  private Path rules;
  private int port;
  private LogCapture log;

  @BeforeEach
  void prepare() throws IOException {
    log = new LogCapture();
    rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    port = Ports.free(); // Nothing listens there.
  }

  @AfterEach
  void stop() {
    log.close();
  }

  private RunningServer start(String... flags) throws Exception {
    Map<String, String> base = new HashMap<>();
    base.put("rules", rules.toString());
    base.put("store", "redis://127.0.0.1:" + port);
    base.put("load-signal", "pushed");
    return RunningServer.start(base, flags);
  }

  private static void assertPasses(RunningServer running, String key) throws Exception {
    HttpResponse<String> answer = running.check(key, "x");
    assertThat(answer.statusCode()).as(key).isEqualTo(200);
    assertThat(answer.body())
        .as(key)
        .contains(
            "\"revision\":" + revision(running) + ",\"reason\":\"UNCERTAIN\",\"cause\":\"open\"");
  }

  private static long revision(RunningServer running) throws Exception {
    return running.metric("weir_rule_revision");
  }

  @Test
  void unlessItIsSaid_theyDeny_andTheLogSaysSo() throws Exception {
    try (RunningServer running = start()) {
      assertThat(log.await("rules answer: "))
          .isEqualTo(
              "store: while redis://127.0.0.1:"
                  + port
                  + " does not decide, rules answer: 4 deny; rules without on_failure,"
                  + " and limits that requests bring: deny (--on-failure). With"
                  + " envoyproxy/ratelimit, Envoy lets such requests pass by default");
      assertThat(running.check("silent", "x").statusCode()).isEqualTo(503);
      assertThat(running.post("/v1/check", OVERRIDE).statusCode()).isEqualTo(503);
    }
  }

  @Test
  void allow_isForAllThatDoNotSayIt_alsoAfterAReload() throws Exception {
    try (RunningServer running = start("on-failure", "allow")) {
      assertThat(log.await("rules answer: ")).contains(": 1 deny, 3 allow; ", "bring: allow (");
      assertPasses(running, "silent");
      assertPasses(running, "elastic");
      assertThat(running.check("watched", "x").statusCode()).isEqualTo(200);
      assertThat(running.check("deny", "x").statusCode()).isEqualTo(503);
      HttpResponse<String> override = running.post("/v1/check", OVERRIDE);
      assertThat(override.statusCode()).as(override.body()).isEqualTo(200);
      assertThat(override.body()).contains("\"reason\":\"UNCERTAIN\"");
      try (EveryDoor doors = new EveryDoor(running.server)) {
        for (Map.Entry<String, CompletableFuture<String>> each :
            doors.request("silent", "y").entrySet()) {
          assertThat(each.getValue().get(60, TimeUnit.SECONDS))
              .as(each.getKey())
              .containsPattern("UNCERTAIN|\"overallCode\":\"OK\"|overall_code: OK")
              .doesNotContain("OVER_LIMIT", "\"allowed\":false");
        }
      }
      assertThat(running.get("/rlconfig").body().lines())
          .anyMatch(line -> line.startsWith("test.silent") && line.endsWith("on_failure: allow"))
          .anyMatch(line -> line.startsWith("test.deny") && line.endsWith("on_failure: deny"))
          .anyMatch(line -> line.startsWith("test.here") && line.endsWith("on_failure: allow"));
      assertThat(running.check("here", "x").statusCode()).isEqualTo(200);
      assertThat(running.check("here", "x").statusCode()).as("its store is here").isEqualTo(429);

      Path next = folder.resolve("next");
      Files.writeString(next, RULES.replace("requests_per_unit: 8}", "requests_per_unit: 9}"));
      Files.move(next, rules, StandardCopyOption.ATOMIC_MOVE);
      log.await("rules: revision 2 in force");
      assertPasses(running, "silent");
      assertThat(running.get("/rlconfig").body()).contains("requests_per_unit=9");
      assertThat(running.post("/v1/check", OVERRIDE).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void local_decidesByTheShare() throws Exception {
    try (RunningServer running = start("on-failure", "local", "local-share", "25%")) {
      assertThat(log.await("rules answer: ")).contains(": 1 deny, 3 local; ", "bring: local (");
      for (int i = 0; i < 2; i++) {
        assertThat(running.check("silent", "x").statusCode()).as("a quarter of 8").isEqualTo(200);
        assertThat(running.post("/v1/check", OVERRIDE).statusCode()).isEqualTo(200);
      }
      assertThat(running.check("silent", "x").statusCode()).isEqualTo(429);
      assertThat(running.post("/v1/check", OVERRIDE).statusCode()).isEqualTo(429);
      assertThat(running.check("deny", "x").statusCode()).isEqualTo(503);
      assertThat(running.get("/rlconfig").body().lines())
          .anyMatch(
              line ->
                  line.startsWith("test.silent")
                      && line.endsWith("on_failure: local local_share=0.25"))
          .as("it has no other store to turn to")
          .anyMatch(line -> line.startsWith("test.here") && line.endsWith("on_failure: deny"));
    }
  }
}
