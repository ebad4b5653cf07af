package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.wire.testkit.RespClient;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of servers with open ports whose counts are read when the test says so. */
@Timeout(120)
class CountsBeingReadTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: day
          rate_limit: {unit: day, requests_per_unit: 5}
        - key: open
          rate_limit: {unit: day, requests_per_unit: 5, on_failure: allow}
      """;

  @TempDir private Path folder;
  private final BlockingQueue<Runnable> readings = new LinkedBlockingQueue<>();
  private final BlockingQueue<WeirServer> begun = new LinkedBlockingQueue<>();

  private CompletableFuture<RunningServer> start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return RunningServer.start(
                rules, readings::add, begun::add, "state-dir", folder.resolve("state").toString());
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        task -> new Thread(task).start());
  }

  private void read() throws InterruptedException {
    Runnable reading = readings.poll(1, TimeUnit.MINUTES);
    assertThat(reading).isNotNull();
    reading.run();
  }

  private void runOnce() throws Exception {
    CompletableFuture<RunningServer> starting = start();
    read();
    try (RunningServer server = starting.join()) {
      for (int i = 0; i < 3; i++) {
        assertThat(server.check("day", "x").statusCode()).isEqualTo(200);
      }
      assertThat(throttle(server.server)).startsWith("*5|:0|");
    }
    begun.clear();
  }

  private static String throttle(WeirServer server) throws Exception {
    try (RespClient client = new RespClient(server.respPort())) {
      return client.exchange("CL.THROTTLE", "key", "0", "1", "86400");
    }
  }

  private static ServingStatus health(WeirServer server) {
    ManagedChannel channel =
        ManagedChannelBuilder.forAddress("127.0.0.1", server.grpcPort()).usePlaintext().build();
    try {
      return HealthGrpc.newBlockingStub(channel)
          .check(HealthCheckRequest.getDefaultInstance())
          .getStatus();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void requests_areAnsweredByOnFailureUntilTheCountsAreRead() throws Exception {
    runOnce();
    try (LogCapture log = new LogCapture()) {
      CompletableFuture<RunningServer> starting = start();
      RunningServer early = RunningServer.of(begun.take());
      HttpResponse<String> ready = early.get("/readyz");
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(early.server.ready()).isFalse();
      assertThat(health(early.server)).isEqualTo(ServingStatus.NOT_SERVING);
      HttpResponse<String> refused = early.check("day", "x");
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.body())
          .contains("\"reason\":\"UNCERTAIN\",\"cause\":\"counts\"", "the server reads its counts");
      for (int i = 0; i < 7; i++) {
        HttpResponse<String> passes = early.check("open", "x");
        assertThat(passes.statusCode()).isEqualTo(200);
        assertThat(passes.body()).contains("UNCERTAIN");
      }
      assertThat(throttle(early.server)).startsWith("-UNCERTAIN ").contains(" (counts), ");
      try (RespClient client = new RespClient(early.server.respPort())) {
        assertThat(client.exchange("DEL", "k"))
            .isEqualTo("-UNCERTAIN the store did not decide (counts), nothing was deleted|");
        assertThat(client.exchange("PING")).isEqualTo("+PONG|");
      }
      assertThat(early.metric("weir_state_kept")).isZero();
      assertThat(starting).isNotDone();

      read();
      try (RunningServer server = starting.join()) {
        assertThat(server.get("/readyz").statusCode()).isEqualTo(200);
        assertThat(health(server.server)).isEqualTo(ServingStatus.SERVING);
        assertThat(server.metric("weir_state_kept")).isEqualTo(1);
        assertThat(server.check("day", "x").statusCode()).isEqualTo(200);
        assertThat(server.check("day", "x").statusCode()).isEqualTo(200);
        assertThat(server.check("day", "x").statusCode()).isEqualTo(429);
        for (int i = 0; i < 5; i++) {
          assertThat(server.check("open", "x").statusCode()).isEqualTo(200);
        }
        assertThat(server.check("open", "x").statusCode()).isEqualTo(429);
        assertThat(throttle(server.server)).startsWith("*5|:1|");
      }
      assertThat(log.text()).contains("reading the counts, requests get on_failure: http on ");
    }
  }

  @Test
  void stopDuringTheReading_isInOrderAndLosesNothing() throws Exception {
    runOnce();
    CompletableFuture<RunningServer> starting = start();
    WeirServer early = begun.take();
    early.close();
    try (RunningServer never = starting.join()) {
      assertThat(never.server.ready()).isFalse();
    }
    readings.clear();
    CompletableFuture<RunningServer> next = start();
    read();
    try (RunningServer server = next.join()) {
      assertThat(server.check("day", "x").statusCode()).isEqualTo(200);
      assertThat(server.check("day", "x").statusCode()).isEqualTo(200);
      assertThat(server.check("day", "x").statusCode()).isEqualTo(429);
    }
  }
}
