package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.config.Cause;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of dry runs on the requests of a running server. */
@Timeout(300)
class RecordedTrafficTest {
  /** The rules of the tests, with one permit a minute in place of three. */
  private static final String CHANGE =
      "{\"rules\":{\"put\":{\"rules.yaml\":\""
          + RunningServer.RULES
              .replace("requests_per_unit: 3", "requests_per_unit: 1")
              .replace("\"", "\\\"")
              .replace("\n", "\\n")
          + "\"}}}";

  private final TestConfigStores.Shared store = TestConfigStores.store();
  private final String token =
      Tokens.create(
              store.store, "test", Role.EDITOR, Tokens.DEFAULT_TTL, Cause.of("test", "a test"))
          .text();

  private RunningServer start(String... namesAndValues) throws Exception {
    store.push(RunningServer.RULES);
    return RunningServer.start(
        Map.of("config-store", store.address, "admin-port", "0"), namesAndValues);
  }

  private HttpResponse<String> admin(RunningServer running, String path, String body)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + running.server.adminPort() + "/admin/v1" + path))
            .header("Authorization", "Bearer " + token);
    if (!body.isEmpty()) {
      request
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body));
    }
    return running.send(request);
  }

  @Test
  void requestsOfAllKinds_areReplayedByADryRun() throws Exception {
    try (RunningServer running = start("record-traffic", "1h")) {
      for (int i = 0; i < 3; i++) {
        assertThat(running.check("user", "mallory.example").statusCode()).isEqualTo(200);
      }
      HttpResponse<String> started = admin(running, "/dry-runs", CHANGE);
      assertThat(started.statusCode()).as(started.body()).isEqualTo(202);
      Matcher id = Pattern.compile("\"id\":\"([0-9a-f]{32})\"").matcher(started.body());
      assertThat(id.find()).isTrue();
      String path = "/dry-runs/" + id.group(1);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (admin(running, path, "").body().contains("\"state\":\"running\"")) {
        assertThat(System.nanoTime()).isLessThan(deadline);
      }
      String body = admin(running, path, "").body();
      assertThat(body)
          .contains("\"state\":\"done\"", "\"came\":3", "\"refused\":2")
          .contains("user=ma\u2026e\u00b7")
          .doesNotContain("mallory");
      HttpResponse<String> report = admin(running, path + "/report", "");
      assertThat(report.body()).contains("Before and after").doesNotContain("mallory");
      assertThat(report.headers().firstValue("Content-Security-Policy").orElse(""))
          .contains("default-src 'none'");
      // The rules in force have not changed.
      assertThat(running.check("user", "mallory.example").statusCode()).isEqualTo(429);
    }
  }

  @Test
  void withoutTheSetting_nothingIsRecorded() throws Exception {
    try (RunningServer running = start()) {
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
      HttpResponse<String> refused = admin(running, "/dry-runs", CHANGE);
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).contains("--record-traffic 1h");
    }
  }
}
