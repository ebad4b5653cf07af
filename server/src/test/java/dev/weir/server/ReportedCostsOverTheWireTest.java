package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.UInt64Value;
import dev.weir.client.WeirClient;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.rules.Request;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Costs that are reported over each protocol, to a server and to a sidecar in front of it. */
class ReportedCostsOverTheWireTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: tokens
          rate_limit: {unit: hour, requests_per_unit: 1000, costs: reported}
        - key: requests
          rate_limit: {unit: hour, requests_per_unit: 10}
      """;

  @TempDir private Path folder;
  private RunningServer server;
  private RunningServer sidecar;

  @BeforeEach
  void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    server = RunningServer.start(Map.of("rules", rules.toString()));
    sidecar =
        RunningServer.start(
            Map.of(
                "upstream",
                "weir://127.0.0.1:" + server.server.grpcPort(),
                "upstream-timeout",
                "4s"));
  }

  @AfterEach
  void stop() {
    sidecar.close();
    server.close();
  }

  private static ManagedChannel channel(RunningServer to) {
    return Grpc.newChannelBuilderForAddress(
            "127.0.0.1", to.server.grpcPort(), InsecureChannelCredentials.create())
        .build();
  }

  /** Sends hits as Envoy does: 0 before a request, and the cost when its response has ended. */
  private static RateLimitResponse envoy(ManagedChannel channel, long hits) {
    RateLimitDescriptor.Builder descriptor =
        RateLimitDescriptor.newBuilder()
            .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey("tokens").setValue("a"))
            .setHitsAddend(UInt64Value.of(hits));
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(
            RateLimitRequest.newBuilder().setDomain("test").addDescriptors(descriptor).build());
  }

  @Test
  void responsesThatCost300_passFourTimesByEnvoysProtocol() {
    for (RunningServer each : new RunningServer[] {server, sidecar}) {
      ManagedChannel channel = channel(each);
      try {
        int passed = 0;
        for (int i = 0; i < 12; i++) {
          if (envoy(channel, 0).getOverallCode() == RateLimitResponse.Code.OK) {
            passed++;
            RateLimitResponse report = envoy(channel, 300);
            assertThat(report.getOverallCode())
                .isEqualTo(
                    passed < 4 ? RateLimitResponse.Code.OK : RateLimitResponse.Code.OVER_LIMIT);
            assertThat(report.getStatuses(0).getLimitRemaining())
                .isEqualTo(Math.max(0, 1000 - 300 * passed));
          }
        }
        assertThat(passed).isEqualTo(each == server ? 4 : 0); // It is one budget.
      } finally {
        channel.shutdownNow();
      }
    }
  }

  @Test
  void chargeOverHttp_isCountedWhateverIsLeft() throws Exception {
    String report =
        "{\"domain\":\"test\",\"descriptor\":{\"requests\":\"a\"},\"permits\":8,\"charge\":true}";
    assertThat(server.post("/v1/check", report).statusCode()).isEqualTo(200);
    HttpResponse<String> over = sidecar.post("/v1/check", report);
    assertThat(over.statusCode()).isEqualTo(429);
    assertThat(over.body()).contains("\"remaining\":0,\"debt\":6");
    HttpResponse<String> batch = server.post("/v1/check/batch", "{\"checks\":[" + report + "]}");
    assertThat(batch.body()).contains("\"debt\":14");
    assertThat(server.check("requests", "a").statusCode()).isEqualTo(429);
    assertThat(server.check("requests", "b").statusCode()).isEqualTo(200);
    assertThat(server.post("/v1/check", report.replace("true", "\"yes\"")).body())
        .contains("charge: yes (expected: true or false)");
  }

  @Test
  void chargeOverTheRedisProtocol_isCountedWhateverIsLeft() throws Exception {
    try (RespClient client = new RespClient(server.server.respPort());
        RespClient there = new RespClient(sidecar.server.respPort())) {
      assertThat(client.exchange("WEIR.CHECK", "test", "3", "requests", "a")).startsWith("*7|:1|");
      assertThat(client.exchange("WEIR.CHARGE", "test", "9", "requests", "a"))
          .startsWith("*7|:0|:10|:-2|");
      assertThat(there.exchange("WEIR.CHARGE", "test", "5", "requests", "a"))
          .startsWith("*7|:0|:10|:-7|");
      assertThat(client.exchange("WEIR.CHECK", "test", "1", "requests", "a"))
          .startsWith("*7|:0|:10|:0|");
    }
  }

  @Test
  void chargeOverGrpc_andByTheClient_isCountedWhateverIsLeft() throws Exception {
    ManagedChannel channel = channel(server);
    try (WeirClient client = WeirClient.builder("127.0.0.1:" + server.server.grpcPort()).build()) {
      Check report =
          Check.newBuilder()
              .setDomain("test")
              .setPermits(12)
              .setCharge(true)
              .addDescriptors(
                  Descriptor.newBuilder()
                      .addEntries(Entry.newBuilder().setKey("requests").setValue("a")))
              .build();
      CheckResult result =
          WeirGrpc.newBlockingStub(channel)
              .checkBatch(CheckBatchRequest.newBuilder().addChecks(report).build())
              .getResults(0);
      assertThat(result.getAllowed()).isFalse();
      assertThat(result.getStatuses(0).getDebt()).isEqualTo(2);

      CompletableFuture<Answer> answer = new CompletableFuture<>();
      client.decide(Request.of("test", "requests", "a").charging(), answer::complete);
      Status status = answer.get(1, TimeUnit.MINUTES).statuses().get(0);
      assertThat(status.debt()).isEqualTo(3);
      assertThat(status.limitRemaining()).isZero();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void rules_areShownWithTheirCosts() throws Exception {
    assertThat(server.get("/rlconfig").body())
        .contains("test.tokens: unit=HOUR requests_per_unit=1000, shadow_mode: false")
        .contains("quota_mode: false, costs: reported\n")
        .doesNotContain("costs: before");
  }
}
