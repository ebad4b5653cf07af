package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the gRPC port with Envoy's own classes, in the manner of Envoy. */
class GrpcDoorTest {
  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;
  private static RateLimitServiceBlockingStub envoy;

  @BeforeAll
  static void start() throws Exception {
    running =
        RunningServer.start(
            folder, "response-headers", "true", "reset-header", "X-Reset", "max-descriptors", "20");
    channel = channel(running);
    envoy = RateLimitServiceGrpc.newBlockingStub(channel);
  }

  private static ManagedChannel channel(RunningServer running) {
    return Grpc.newChannelBuilderForAddress(
            "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
        .build();
  }

  @AfterAll
  static void stop() {
    channel.shutdownNow();
    running.close();
  }

  private static RateLimitRequest.Builder request(String... keysAndValues) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      request.addDescriptors(descriptor(keysAndValues[i], keysAndValues[i + 1]));
    }
    return request;
  }

  private static RateLimitDescriptor.Builder descriptor(String key, String value) {
    return RateLimitDescriptor.newBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value));
  }

  @Test
  void statuses_areFull() {
    RateLimitResponse response =
        envoy.shouldRateLimit(
            request("user", "ann", "tenant", "t", "free", "x", "allowed", "x", "none", "x")
                .build());
    assertThat(response.getOverallCode()).isEqualTo(Code.OK);
    assertThat(response.getStatusesCount()).isEqualTo(5);
    DescriptorStatus user = response.getStatuses(0);
    assertThat(user.getCode()).isEqualTo(Code.OK);
    assertThat(user.getCurrentLimit())
        .isEqualTo(
            RateLimit.newBuilder()
                .setName("per-user")
                .setRequestsPerUnit(3)
                .setUnit(RateLimit.Unit.MINUTE)
                .build());
    assertThat(user.getLimitRemaining()).isEqualTo(2);
    assertThat(user.getDurationUntilReset().getSeconds()).isBetween(1L, 60L);
    assertThat(response.getStatuses(1).getCurrentLimit().getUnit()).isEqualTo(RateLimit.Unit.WEEK);
    DescriptorStatus free = response.getStatuses(2);
    assertThat(free.hasCurrentLimit()).isFalse();
    assertThat(Integer.toUnsignedLong(free.getLimitRemaining())).isEqualTo(4294967295L);
    assertThat(response.getStatuses(3))
        .isEqualTo(DescriptorStatus.newBuilder().setCode(Code.OK).build());
    assertThat(response.getStatuses(4)).isEqualTo(response.getStatuses(3));
  }

  @Test
  void fourthRequestOfThree_isOverLimit() {
    for (int i = 0; i < 3; i++) {
      assertThat(envoy.shouldRateLimit(request("user", "bob").build()).getOverallCode())
          .isEqualTo(Code.OK);
    }
    RateLimitResponse refused = envoy.shouldRateLimit(request("user", "bob").build());
    assertThat(refused.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    DescriptorStatus status = refused.getStatuses(0);
    assertThat(status.getCode()).isEqualTo(Code.OVER_LIMIT);
    assertThat(status.getLimitRemaining()).isZero();
    assertThat(status.getDurationUntilReset().getSeconds()).isBetween(1L, 60L);
    assertThat(envoy.shouldRateLimit(request("user", "eve").build()).getOverallCode())
        .isEqualTo(Code.OK);
  }

  @Test
  void responseHeaders_comeFromTheTightestDescriptor() {
    RateLimitResponse response =
        envoy.shouldRateLimit(request("tenant", "h", "user", "h", "odd", "h").build());
    assertThat(response.getResponseHeadersToAddList())
        .extracting(HeaderValue::getKey)
        .containsExactly("RateLimit-Limit", "RateLimit-Remaining", "X-Reset");
    assertThat(response.getResponseHeadersToAddList())
        .extracting(HeaderValue::getValue)
        .startsWith("3", "2");
    RateLimitResponse over =
        envoy.shouldRateLimit(request("tenant", "h", "never", "", "user", "h").build());
    assertThat(over.getResponseHeadersToAddList())
        .extracting(HeaderValue::getValue)
        .startsWith("0", "0");
    assertThat(envoy.shouldRateLimit(request("free", "h").build()).getResponseHeadersToAddList())
        .isEmpty();
  }

  @Test
  void permits_areTheDescriptorsOwnOrElseTheRequests() {
    RateLimitRequest request =
        request("user", "p")
            .setHitsAddend(2)
            .addDescriptors(
                descriptor("odd", "p").setHitsAddend(UInt64Value.newBuilder().setValue(0)))
            .addDescriptors(
                descriptor("tenant", "p").setHitsAddend(UInt64Value.newBuilder().setValue(10)))
            .build();
    assertThat(envoy.shouldRateLimit(request).getStatusesList())
        .extracting(DescriptorStatus::getLimitRemaining)
        .containsExactly(1, 5, 990);
  }

  @Test
  void limitOfTheRequest_isInForce() {
    RateLimitRequest request =
        RateLimitRequest.newBuilder()
            .setDomain("test")
            .addDescriptors(
                descriptor("any", "thing")
                    .setLimit(
                        RateLimitDescriptor.RateLimitOverride.newBuilder()
                            .setRequestsPerUnit(7)
                            .setUnit(RateLimitUnit.MONTH)))
            .build();
    DescriptorStatus status = envoy.shouldRateLimit(request).getStatuses(0);
    assertThat(status.getCurrentLimit().getRequestsPerUnit()).isEqualTo(7);
    assertThat(status.getCurrentLimit().getUnit()).isEqualTo(RateLimit.Unit.MONTH);
    assertThat(status.getLimitRemaining()).isEqualTo(6);
  }

  @Test
  void senselessRequests_areUnknownWithTheOriginalsWords() {
    refused(RateLimitRequest.newBuilder(), "rate limit domain must not be empty");
    refused(
        RateLimitRequest.newBuilder().setDomain("test"),
        "rate limit descriptor list must not be empty");
    RateLimitRequest.Builder many = request();
    for (int i = 0; i < 1000; i++) {
      many.addDescriptors(descriptor("user", "u" + i));
    }
    refused(many, "descriptors: 1000 (expected: at most 20)");
    refused(request("user", "x".repeat(5000)), "entry length: 5000 (expected: at most 4096)");
  }

  private static void refused(RateLimitRequest.Builder request, String message) {
    assertThatThrownBy(() -> envoy.shouldRateLimit(request.build()))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessage("UNKNOWN: " + message);
  }

  @Test
  void oversizeMessage_isRefusedAndOthersAreServed() {
    assertThatThrownBy(() -> envoy.shouldRateLimit(request("user", "x".repeat(2 << 20)).build()))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("RESOURCE_EXHAUSTED");
    assertThat(envoy.shouldRateLimit(request("tenant", "after").build()).getOverallCode())
        .isEqualTo(Code.OK);
  }

  @Test
  void connectionBeyondTheLimit_isToldSo(@TempDir Path other) throws Exception {
    try (RunningServer small = RunningServer.start(other, "max-connections", "1")) {
      ManagedChannel first = channel(small);
      ManagedChannel second = channel(small);
      try {
        RateLimitServiceGrpc.newBlockingStub(first).shouldRateLimit(request("user", "a").build());
        assertThatThrownBy(
                () ->
                    RateLimitServiceGrpc.newBlockingStub(second)
                        .shouldRateLimit(request("user", "a").build()))
            .hasMessageContaining("connections: too many (expected: at most 1)");
        assertThat(small.get("/metrics").body())
            .containsPattern(
                "weir_connections_refused_total\\{door=\"grpc\"} [1-9]"); // The client tries again.
      } finally {
        first.shutdownNow();
        second.shutdownNow();
      }
    }
  }

  @Test
  void health_isServing() {
    for (String service : List.of("", "ratelimit", RateLimitServiceGrpc.SERVICE_NAME)) {
      assertThat(
              HealthGrpc.newBlockingStub(channel)
                  .check(HealthCheckRequest.newBuilder().setService(service).build())
                  .getStatus())
          .isEqualTo(ServingStatus.SERVING);
    }
  }

  @Test
  void reflection_listsTheService() throws Exception {
    CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
    StreamObserver<ServerReflectionRequest> ask =
        ServerReflectionGrpc.newStub(channel)
            .serverReflectionInfo(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ServerReflectionResponse response) {
                    answer.complete(response);
                  }

                  @Override
                  public void onError(Throwable error) {
                    answer.completeExceptionally(error);
                  }

                  @Override
                  public void onCompleted() {}
                });
    ask.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    assertThat(answer.get(30, TimeUnit.SECONDS).getListServicesResponse().getServiceList())
        .extracting(service -> service.getName())
        .contains(
            "envoy.service.ratelimit.v3.RateLimitService", "weir.v1.Weir", "grpc.health.v1.Health");
    ask.onCompleted();
  }
}
