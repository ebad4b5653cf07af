package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.server.RunningServer;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.metrics.Exposition;
import dev.weir.server.internal.settings.ServerSettings;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /** A page takes long if there are many rules, and any client may request many pages. */
  @Test
  void pagesThatTakeLong_holdUpNobodyElse_andTooManyAreRefused() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    AtomicBoolean asked = new AtomicBoolean();
    PrometheusRegistry registry = new PrometheusRegistry();
    Collector collector =
        () -> {
          if (asked.get()) {
            await(slow);
          }
          return new GaugeSnapshot(new MetricMetadata("slow"), List.of());
        };
    registry.register(collector);
    asked.set(true);
    ServerSettings settings = ServerSettings.of(Map.of("port", "0"));
    EventLoops loops = EventLoops.start(settings, Ticker.system());
    try (Engine engine =
        Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS)) {
      HttpDoor door =
          HttpDoor.open(
              settings,
              loops,
              routes(engine, settings, registry),
              Certificates.NONE,
              counters(settings),
              Ticker.system());
      HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
      String root = "http://127.0.0.1:" + door.port();
      List<CompletableFuture<Integer>> pages = new ArrayList<>();
      CompletableFuture<Integer> refused = new CompletableFuture<>();
      for (int i = 0; i < MetricsPage.MOST_WAITING + 2; i++) {
        CompletableFuture<Integer> page = status(client, root + "/metrics");
        var unused = page.thenAccept(refused::complete);
        pages.add(page);
      }
      assertThat(refused.get(60, TimeUnit.SECONDS)).as("one is made, 16 wait").isEqualTo(503);
      assertThat(status(client, root + "/livez").get(60, TimeUnit.SECONDS)).isEqualTo(200);
      slow.countDown();
      List<Integer> found = new ArrayList<>();
      for (CompletableFuture<Integer> each : pages) {
        found.add(each.get(60, TimeUnit.SECONDS));
      }
      assertThat(found).containsOnlyOnce(503).contains(200).hasSameSizeAs(pages);
      door.shut(Duration.ZERO);
      door.close(Duration.ZERO);
    } finally {
      slow.countDown();
      loops.close();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static CompletableFuture<Integer> status(HttpClient client, String uri) {
    return client
        .sendAsync(
            HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.discarding())
        .thenApply(HttpResponse::statusCode);
  }

  private static DoorCounters counters(ServerSettings settings) {
    return new DoorCounters(100, PendingBytes.of(settings, Ticker.system()));
  }

  private static Routes routes(
      Engine engine, ServerSettings settings, PrometheusRegistry registry) {
    List<Endpoint> endpoints =
        new Endpoints(
                new GuardedDecider(
                    engine, SystemLoad.of(settings, Ticker.system()), Ticker.system()),
                settings,
                () -> "",
                registry,
                new RequestTimes(Histogram.ofRequests(), Ticker.system()),
                Tracing.OFF)
            .all();
    return new Routes(endpoints, off -> null, Tokens.notRequired());
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
