package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.WeirClient;
import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.settings.SettingsException;
import dev.weir.wire.testkit.RespClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of two servers that hold the limits of a third, as on two machines. */
class SidecarTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: hour, requests_per_unit: 3}
        - key: hot
          rate_limit: {unit: hour, requests_per_unit: 400, consistency: leased}
      """;

  @TempDir private Path folder;
  private RunningServer upstream;
  private RunningServer left;
  private RunningServer right;

  @BeforeEach
  void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("upstream.yaml"), RULES);
    upstream = RunningServer.start(Map.of("rules", rules.toString()));
    left = sidecar();
    right = sidecar();
  }

  private RunningServer sidecar() throws Exception {
    RunningServer sidecar =
        RunningServer.start(
            Map.of(
                "upstream",
                "weir://127.0.0.1:" + upstream.server.grpcPort(),
                "upstream-timeout",
                "4s"));
    return sidecar;
  }

  @AfterEach
  void stop() {
    left.close();
    right.close();
    upstream.close();
  }

  @Test
  void strictLimit_holdsOverBoth() throws Exception {
    int admitted = 0;
    for (int i = 0; i < 5; i++) {
      admitted += left.check("user", "a").statusCode() == 200 ? 1 : 0;
      admitted += right.check("user", "a").statusCode() == 200 ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(3);
    assertThat(left.check("user", "a").body()).contains("test.user").contains("OVER_LIMIT");
  }

  @Test
  void leasedLimit_holdsOverBoth_withFewCalls() throws Exception {
    int admitted = 0;
    for (int i = 0; i < 300; i++) {
      admitted += left.check("hot", "a").statusCode() == 200 ? 1 : 0;
      admitted += right.check("hot", "a").statusCode() == 200 ? 1 : 0;
    }
    assertThat(admitted).isBetween(300, 400);
    assertThat(left.metric("weir_client_admitted_locally_total")).isGreaterThan(50);
    assertThat(left.metric("weir_client_available")).isEqualTo(1);
  }

  @Test
  void everyProtocol_countsTogether() throws Exception {
    assertThat(left.check("user", "b").statusCode()).isEqualTo(200);
    try (RespClient resp = new RespClient(right.server.respPort())) {
      assertThat(resp.exchange("WEIR.CHECK", "test", "1", "user", "b")).doesNotStartWith("-");
    }
    try (WeirClient client =
        WeirClient.builder("127.0.0.1:" + left.server.grpcPort())
            .deadline(Duration.ofSeconds(30))
            .build()) {
      assertThat(request(client).allowed()).isTrue();
      assertThat(request(client).allowed()).isFalse();
    }
  }

  private static Answer request(WeirClient client) throws Exception {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    client.decide(Request.of("test", "user", "b"), answer::complete);
    return answer.get(30, TimeUnit.SECONDS);
  }

  @Test
  void overrideOfSeveralUnits_holdsOverBoth() throws Exception {
    String override =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"own\",\"value\":\"x\"}],"
            + "\"limit\":{\"requestsPerUnit\":2,\"unit\":\"SECOND\",\"unitMultiplier\":7200}}]}";
    assertThat(left.post("/json", override).statusCode()).isEqualTo(200);
    assertThat(right.post("/json", override).body())
        .contains("\"unit\":\"HOUR\",\"unitMultiplier\":2");
    assertThat(left.post("/json", override).statusCode()).isEqualTo(429);
  }

  @Test
  void negativeHits_areNoChargeAndGiveNothingBack() throws Exception {
    String back =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"back\"}],"
            + "\"isNegativeHits\":true,\"hitsAddend\":\"2\"}]}";
    for (int i = 0; i < 3; i++) {
      assertThat(left.post("/json", back).statusCode()).isEqualTo(200);
      assertThat(right.check("user", "back").statusCode()).isEqualTo(200);
    }
    assertThat(left.post("/json", back).statusCode()).isEqualTo(200);
    assertThat(right.check("user", "back").statusCode()).isEqualTo(429);
  }

  @Test
  void upstreamAway_isUncertain() throws Exception {
    assertThat(left.check("user", "c").statusCode()).isEqualTo(200);
    upstream.close();
    HttpResponse<String> known = left.check("user", "c");
    assertThat(known.statusCode()).isEqualTo(503);
    assertThat(known.body())
        .contains(
            " cannot be checked now: the upstream server gave no answer", "\"cause\":\"upstream\"");
    assertThat(left.check("user", "never seen").body())
        .contains("\"violated-policies\":[]", "\"reason\":\"UNCERTAIN\",\"cause\":\"upstream\"")
        .doesNotContain("No rules");
    assertThat(left.get("/healthcheck").statusCode()).isEqualTo(200);
  }

  @Test
  void settingsOfTheOther_areRefused() {
    assertThatThrownBy(
            () ->
                ServerSettings.of(
                    Map.of(
                        "upstream",
                        "weir://weir:8081",
                        "rules",
                        folder.toString(),
                        "store",
                        "redis://localhost",
                        "shadow-mode",
                        "true")))
        .isInstanceOf(SettingsException.class)
        .hasMessageContaining(
            "--rules: beside --upstream (expected: one of them; with --upstream, --rules is the"
                + " other server's)")
        .hasMessageContaining("--store: beside --upstream")
        .hasMessageContaining("--shadow-mode: beside --upstream");
  }

  @Test
  void address_thatIsNone_isRefused() {
    for (String text : new String[] {"weir:8081", "http://weir:8081", "weir://weir", "weir://:1"}) {
      assertThatThrownBy(() -> ServerSettings.of(Map.of("upstream", text)))
          .hasMessageContaining(
              "(expected: weir://HOST:PORT, or weirs:// for TLS, with the other server's gRPC"
                  + " port)");
    }
  }
}
