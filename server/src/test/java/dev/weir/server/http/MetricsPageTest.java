package dev.weir.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.RunningServer;
import dev.weir.server.metrics.Exposition;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsPageTest {
  private static final String CLASSIC = "text/plain; version=0.0.4; charset=utf-8";
  private static final String OPEN_METRICS =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private static HttpResponse<String> get(RunningServer running, String accept) throws Exception {
    return running.send(
        HttpRequest.newBuilder(running.uri("/metrics")).header("Accept", accept).GET());
  }

  private static String type(HttpResponse<String> answer) {
    return answer.headers().firstValue("Content-Type").orElseThrow();
  }

  @Test
  void format_isOpenMetricsWhereTheClientTakesIt_andElseTheClassicOne(@TempDir Path folder)
      throws Exception {
    try (RunningServer running = RunningServer.start(folder)) {
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
      String series = "weir_rule_hits_total{policy=\"per-user\",rule=\"test.user\"}";

      HttpResponse<String> silent = running.get("/metrics");
      assertThat(type(silent)).isEqualTo(CLASSIC);
      assertThat(Exposition.classic(silent.body()).samples()).containsEntry(series, 1.0);

      for (String accept : new String[] {"*/*", "text/plain", "text/plain;version=0.0.4;q=0.5"}) {
        assertThat(type(get(running, accept))).as(accept).isEqualTo(CLASSIC);
      }
      HttpResponse<String> prometheus =
          get(
              running,
              "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,"
                  + "*/*;q=0.2");
      assertThat(type(prometheus)).isEqualTo(OPEN_METRICS);
      assertThat(Exposition.openMetrics(prometheus.body()).samples()).containsEntry(series, 1.0);

      // A format that the server does not have.
      String protobuf =
          "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
              + "encoding=delimited;q=0.7";
      assertThat(type(get(running, protobuf))).isEqualTo(CLASSIC);
      assertThat(type(get(running, protobuf + "," + OPEN_METRICS))).isEqualTo(OPEN_METRICS);
    }
  }

  @Test
  void rulesWhosePathsReadAlike_areOneSeries(@TempDir Path folder) throws Exception {
    Path rules =
        Files.writeString(
            folder.resolve("rules.yaml"),
            """
            domain: test
            descriptors:
              - key: a
                detailed_metric: true
                rate_limit: {name: n, unit: day, requests_per_unit: 9}
              - key: a_x
                rate_limit: {name: n, unit: day, requests_per_unit: 9}
            """);
    try (RunningServer running = RunningServer.start(Map.of("rules", rules.toString()))) {
      assertThat(running.check("a", "x").statusCode()).isEqualTo(200);
      assertThat(running.check("a_x", "y").statusCode()).isEqualTo(200);
      assertThat(Exposition.classic(running.get("/metrics").body()).samples())
          .containsEntry("weir_rule_hits_total{policy=\"n\",rule=\"test.a_x\"}", 2.0);
    }
  }
}
