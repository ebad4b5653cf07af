package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a rule with a queue: the service answers late instead of refusing at once. */
class QueueOverTheWireTest {
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: short
          rate_limit:
            window: 300ms
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 30s}}
        - key: long
          rate_limit:
            window: 1h
            requests_per_unit: 1
            algorithm: fixed-window
            on_limit: {queue: {requests: 1, wait: 30s}}
        - key: longer
          rate_limit:
            window: 2s
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 30s}}
        - key: patient
          rate_limit:
            window: 20s
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 30s}}
      """;

  @TempDir private Path folder;
  private RunningServer running;
  private LogCapture log;

  @BeforeEach
  void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    running = RunningServer.start(Map.of("rules", rules.toString()), "drain-delay", "0s");
    log = new LogCapture();
  }

  @AfterEach
  void stop() {
    log.close();
    running.close();
  }

  private static String body(String key, String value) {
    return "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\""
        + key
        + "\",\"value\":\""
        + value
        + "\"}]}]}";
  }

  private int check(String path, String key, String value) throws Exception {
    HttpResponse<String> answer = running.post(path, body(key, value));
    return answer.statusCode();
  }

  private static RateLimitRequest request(String key, String value) {
    return RateLimitRequest.newBuilder()
        .setDomain("test")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
        .build();
  }

  @Test
  void http_waitsAndIsAdmitted_onBothPaths() throws Exception {
    for (String path : new String[] {"/v1/check", "/json"}) {
      long before = metric("weir_queue_admitted_total");
      long begun = System.nanoTime();
      int asked = 0;
      // A request that comes 300 ms after the last one, because the machine stood still, does not
      // wait: then another one is sent.
      do {
        assertThat(check(path, "short", path)).as(path + ", request " + asked).isEqualTo(200);
        assertThat(asked * SHORT_NANOS)
            .as("what the requests after the first must take, %s", path)
            .isLessThanOrEqualTo(System.nanoTime() - begun);
        asked++;
        assertThat(asked).isLessThan(1_000);
      } while (asked < 3 || metric("weir_queue_admitted_total") < before + 2);
    }
  }

  /** A request that waits for its turn holds up only its own client. */
  @Test
  void http_waitsLongerThanARequestMayTakeToArrive() throws Exception {
    running.close();
    running =
        RunningServer.start(
            Map.of("rules", folder.resolve("rules.yaml").toString()),
            "drain-delay",
            "0s",
            "request-timeout",
            "500ms");
    for (String path : new String[] {"/v1/check", "/json"}) {
      List<String> answers = new ArrayList<>();
      // A machine that stands still may cut off a request that has hardly begun: then another one
      // is sent.
      while (answers.size() < 5 && !answers.contains("waited and 200")) {
        answers.add(waited(path, "longer", path + answers.size()));
      }
      assertThat(answers).as(path).contains("waited and 200");
    }
  }

  /** Sends two requests for one permit of two seconds, and returns the outcome of the second. */
  private String waited(String path, String key, String value) throws Exception {
    try {
      long before = metric("weir_queue_admitted_total");
      check(path, key, value);
      int status = check(path, key, value);
      return (metric("weir_queue_admitted_total") > before ? "waited and " : "") + status;
    } catch (IOException e) {
      return "no answer: " + e.getMessage();
    }
  }

  @Test
  void http_hopelessWait_isRefusedAtOnce() throws Exception {
    assertThat(check("/v1/check", "long", "a")).isEqualTo(200);
    long begun = System.nanoTime();
    assertThat(check("/v1/check", "long", "a")).isEqualTo(429);
    assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(20));
    assertThat(metric("weir_queue_refused_total")).isEqualTo(1);
    assertThat(log.text()).doesNotContain("failed");
  }

  @Test
  void grpc_waitsWithinItsDeadline_orIsRefusedAtOnce() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      RateLimitServiceGrpc.RateLimitServiceBlockingStub stub =
          RateLimitServiceGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS);
      for (int i = 0; i < 3; i++) {
        assertThat(stub.shouldRateLimit(request("short", "g")).getOverallCode())
            .isEqualTo(RateLimitResponse.Code.OK);
      }
      assertThat(stub.shouldRateLimit(request("patient", "g")).getOverallCode())
          .isEqualTo(RateLimitResponse.Code.OK);
      assertThat(
              stub.withDeadlineAfter(10, TimeUnit.SECONDS)
                  .shouldRateLimit(request("patient", "g"))
                  .getOverallCode())
          .as("twenty seconds are more than its deadline")
          .isEqualTo(RateLimitResponse.Code.OVER_LIMIT);
    } finally {
      channel.shutdownNow();
    }
  }

  /** Sends a request and leaves its answer on the socket. */
  private Socket send(String path, String key, String value) throws IOException {
    byte[] content = body(key, value).getBytes(StandardCharsets.UTF_8);
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.httpPort());
    String head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
            + content.length
            + "\r\n\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(content);
    return socket;
  }

  @Test
  void clientGoesAway_leavesTheQueue() throws Exception {
    assertThat(check("/v1/check", "patient", "a")).isEqualTo(200);
    try (Socket socket = send("/v1/check", "patient", "a")) {
      await("weir_queued_requests", 1);
      assertThat(socket.isClosed()).isFalse();
    }
    await("weir_queue_left_total", 1);
    assertThat(metric("weir_queued_requests")).isZero();
  }

  @Test
  void grpc_clientWithoutADeadlineGoesAway_leavesTheQueue() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      RateLimitServiceGrpc.RateLimitServiceFutureStub stub =
          RateLimitServiceGrpc.newFutureStub(channel);
      assertThat(stub.shouldRateLimit(request("patient", "g")).get().getOverallCode())
          .isEqualTo(RateLimitResponse.Code.OK);
      Future<RateLimitResponse> waiting = stub.shouldRateLimit(request("patient", "g"));
      await("weir_queued_requests", 1);
      assertThat(waiting.cancel(true)).isTrue();
      await("weir_queue_left_total", 1);
      assertThat(metric("weir_queued_requests")).isZero();
    } finally {
      channel.shutdownNow();
    }
  }

  /** Its turn comes in twenty seconds, which is later than the drain timeout. */
  @Test
  void serverStops_requestWithoutATurnInTime_isRefusedWithARetryAfter() throws Exception {
    for (String path : new String[] {"/v1/check", "/json"}) {
      assertThat(check(path, "patient", path)).isEqualTo(200);
    }
    try (Socket check = send("/v1/check", "patient", "/v1/check");
        Socket json = send("/json", "patient", "/json")) {
      await("weir_queued_requests", 2);
      running.server.drain(Duration.ofSeconds(15));
      for (Socket each : List.of(check, json)) {
        String answer = new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(answer).startsWith("HTTP/1.1 429 ");
        assertThat(answer.toLowerCase(Locale.ROOT))
            .contains("\r\nretry-after: ")
            .contains("\r\nconnection: close\r\n");
      }
    }
    assertThat(log.text()).doesNotContain("failed");
  }

  private void await(String name, long value) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (metric(name) != value && System.nanoTime() - deadline < 0) {
      Thread.onSpinWait();
    }
    assertThat(metric(name)).as(name).isEqualTo(value);
  }

  private long metric(String name) throws Exception {
    return running.metric(name);
  }
}
