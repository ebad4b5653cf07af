package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.testkit.Ports;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the data that the server sends by itself, read like its receivers. */
class TelemetryTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String CALLER = "00f067aa0ba902b7";

  @TempDir private Path folder;
  private HttpServer collector;
  private final List<ExportTraceServiceRequest> traces = new CopyOnWriteArrayList<>();
  private final List<ExportMetricsServiceRequest> metrics = new CopyOnWriteArrayList<>();

  @BeforeEach
  void listen() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receive("/v1/traces", body -> traces.add(ExportTraceServiceRequest.parseFrom(body)));
    receive("/v1/metrics", body -> metrics.add(ExportMetricsServiceRequest.parseFrom(body)));
    collector.start();
  }

  @AfterEach
  void close() {
    collector.stop(0);
  }

  private interface Receiver {
    void take(byte[] body) throws IOException;
  }

  /** Answers only when the body is read: the server may stop as soon as it has the answer. */
  private void receive(String path, Receiver receiver) {
    collector.createContext(
        path,
        exchange -> {
          try (exchange) {
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            if ("application/x-protobuf".equals(type)) {
              receiver.take(exchange.getRequestBody().readAllBytes());
              exchange.sendResponseHeaders(200, -1);
            } else {
              exchange.sendResponseHeaders(415, -1);
            }
          }
        });
  }

  private RunningServer start() throws Exception {
    return RunningServer.start(
        folder, "otlp", "http://127.0.0.1:" + collector.getAddress().getPort());
  }

  private static String traceparent(boolean sampled) {
    return "00-" + TRACE + "-" + CALLER + (sampled ? "-01" : "-00");
  }

  private List<Span> spans() {
    return traces.stream()
        .flatMap(request -> request.getResourceSpansList().stream())
        .flatMap(spans -> spans.getScopeSpansList().stream())
        .flatMap(spans -> spans.getSpansList().stream())
        .toList();
  }

  private static Map<String, String> attributes(List<KeyValue> attributes) {
    return attributes.stream()
        .collect(Collectors.toMap(KeyValue::getKey, each -> text(each.getValue())));
  }

  private static String text(AnyValue value) {
    return switch (value.getValueCase()) {
      case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
      case INT_VALUE -> Long.toString(value.getIntValue());
      default -> value.getStringValue();
    };
  }

  @Test
  void traceOfAnHttpCaller_isContinuedWhereHeSamplesIt() throws Exception {
    String check = "{\"domain\":\"test\",\"descriptor\":{\"never\":\"secret\"}}";
    try (RunningServer running = start()) {
      running.post("/v1/check", check, "traceparent", traceparent(true));
      running.post("/v1/check", check, "traceparent", traceparent(false));
      running.post("/v1/check", check);
    }
    assertThat(spans()).hasSize(1);
    Span span = spans().get(0);
    assertThat(span.getName()).isEqualTo("POST /v1/check");
    assertThat(span.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
    assertThat(HexFormat.of().formatHex(span.getTraceId().toByteArray())).isEqualTo(TRACE);
    assertThat(HexFormat.of().formatHex(span.getParentSpanId().toByteArray())).isEqualTo(CALLER);
    assertThat(span.getEndTimeUnixNano()).isGreaterThanOrEqualTo(span.getStartTimeUnixNano());
    assertThat(attributes(span.getAttributesList()))
        .containsEntry("weir.domain", "test")
        .containsEntry("weir.allowed", "false")
        .containsEntry("weir.reason", "OVER_LIMIT")
        .containsEntry("weir.policy", "test.never");
    assertThat(span.toString()).doesNotContain("secret");
  }

  @Test
  void spanOfARequestWithoutADecision_hasTheCause() throws Exception {
    String check = "{\"domain\":\"test\",\"descriptor\":{\"never\":\"x\"}}";
    try (RunningServer running =
        RunningServer.start(
            folder,
            "otlp",
            "http://127.0.0.1:" + collector.getAddress().getPort(),
            "store",
            "redis://127.0.0.1:" + Ports.free())) {
      running.post("/v1/check", check, "traceparent", traceparent(true));
    }
    assertThat(attributes(spans().get(0).getAttributesList()))
        .containsEntry("weir.reason", "UNCERTAIN")
        .containsEntry("weir.cause", "open");
  }

  @Test
  void traceOfABatch_isOneSpan() throws Exception {
    String check = "{\"domain\":\"test\",\"descriptor\":{\"never\":\"x\"}}";
    try (RunningServer running = start()) {
      running.post(
          "/v1/check/batch",
          "{\"checks\":[" + check + "," + check + "]}",
          "traceparent",
          traceparent(true));
    }
    assertThat(spans()).hasSize(1);
    assertThat(attributes(spans().get(0).getAttributesList()))
        .containsEntry("weir.requests", "2")
        .containsEntry("weir.refused", "2");
  }

  @Test
  void traceOfAGrpcCaller_isContinued() throws Exception {
    try (RunningServer running = start()) {
      ManagedChannel channel =
          NettyChannelBuilder.forAddress("127.0.0.1", running.server.grpcPort())
              .usePlaintext()
              .build();
      Metadata metadata = new Metadata();
      metadata.put(
          Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), traceparent(true));
      RateLimitDescriptor.Entry entry =
          RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("ann").build();
      RateLimitServiceGrpc.newBlockingStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
          .shouldRateLimit(
              RateLimitRequest.newBuilder()
                  .setDomain("test")
                  .addDescriptors(RateLimitDescriptor.newBuilder().addEntries(entry))
                  .build());
      channel.shutdownNow();
    }
    assertThat(spans()).hasSize(1);
    Span span = spans().get(0);
    assertThat(span.getName())
        .isEqualTo("envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    assertThat(HexFormat.of().formatHex(span.getTraceId().toByteArray())).isEqualTo(TRACE);
    assertThat(attributes(span.getAttributesList()))
        .containsEntry("weir.allowed", "true")
        .containsEntry("weir.policy", "per-user")
        .containsEntry("weir.remaining", "2");
  }

  @Test
  void metrics_areThoseOfThePage() throws Exception {
    try (RunningServer running = start()) {
      for (int i = 0; i < 5; i++) {
        running.check("user", "ann");
      }
    }
    assertThat(metrics).isNotEmpty();
    var last = metrics.get(metrics.size() - 1).getResourceMetrics(0);
    Resource resource = last.getResource();
    assertThat(attributes(resource.getAttributesList()))
        .containsEntry("service.name", "weir")
        .containsKey("service.version");
    Map<String, Metric> byName = new HashMap<>();
    last.getScopeMetricsList().stream()
        .flatMap(scope -> scope.getMetricsList().stream())
        .forEach(metric -> byName.put(metric.getName(), metric));
    Metric requests = Objects.requireNonNull(byName.get("weir_requests"));
    assertThat(requests.getSum().getIsMonotonic()).isTrue();
    assertThat(requests.getSum().getDataPoints(0).getAsDouble()).isEqualTo(5);
    Metric denied = Objects.requireNonNull(byName.get("weir_requests_denied"));
    assertThat(denied.getSum().getDataPoints(0).getAsDouble()).isEqualTo(2);
    Metric times = Objects.requireNonNull(byName.get("weir_request_seconds"));
    assertThat(times.getUnit()).isEqualTo("s");
    assertThat(times.getHistogram().getDataPointsList())
        .filteredOn(point -> attributes(point.getAttributesList()).containsValue("http"))
        .singleElement()
        .satisfies(
            point -> {
              assertThat(point.getCount()).isEqualTo(5);
              assertThat(point.getSum()).isPositive();
              assertThat(point.getBucketCountsCount())
                  .isEqualTo(point.getExplicitBoundsCount() + 1);
            });
    assertThat(byName).containsKeys("weir_build_info", "jvm_memory_used_bytes");
  }

  @Test
  void collectorThatIsAway_disturbsNothing() throws Exception {
    collector.stop(0);
    try (RunningServer running = start()) {
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
    }
    assertThat(metrics).isEmpty();
  }

  @Test
  void addressThatIsNone_isRefused() {
    assertThatThrownBy(() -> RunningServer.start(folder, "otlp", "collector:4318"))
        .hasMessageContaining("--otlp: collector:4318 (expected: http://HOST:PORT");
    assertThatThrownBy(() -> RunningServer.start(folder, "statsd", "collector"))
        .hasMessageContaining("--statsd: collector (expected: HOST:PORT)");
  }

  @Test
  void statsd_getsWhatCountersGrewByUnderTheNamesOfTheOriginal() throws Exception {
    try (DatagramSocket statsd = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      statsd.setSoTimeout(10_000);
      try (RunningServer running =
          RunningServer.start(folder, "statsd", "127.0.0.1:" + statsd.getLocalPort())) {
        for (int i = 0; i < 5; i++) {
          running.check("user", "ann");
        }
        running.check("watched", "x");
        running.check("watched", "x");
      }
      Map<String, Long> counted = new HashMap<>();
      String last = "ratelimit.service.rate_limit.test.watched.shadow_mode";
      while (!counted.containsKey(last)) {
        byte[] bytes = new byte[2_000];
        DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
        statsd.receive(packet);
        new String(bytes, 0, packet.getLength(), StandardCharsets.UTF_8)
            .lines()
            .forEach(
                line -> {
                  assertThat(line).matches("[\\w.]+:\\d+\\|c");
                  String[] parts = line.split("[:|]", -1);
                  counted.merge(parts[0], Long.parseLong(parts[1]), Long::sum);
                });
      }
      String user = "ratelimit.service.rate_limit.test.user.";
      assertThat(counted)
          .containsEntry(user + "total_hits", 5L)
          .containsEntry(user + "over_limit", 2L)
          .containsEntry(user + "within_limit", 3L)
          .containsEntry(user + "near_limit", 1L)
          .containsEntry("ratelimit.service.rate_limit.test.watched.total_hits", 2L)
          .containsEntry(last, 1L)
          .containsEntry("ratelimit.service.config_load_success", 1L)
          .doesNotContainKey("ratelimit.service.rate_limit.test.tenant.total_hits");
    }
  }
}
