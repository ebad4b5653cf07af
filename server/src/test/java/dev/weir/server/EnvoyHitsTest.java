package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UInt32Value;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.util.JsonFormat;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitDescriptor.RateLimitOverride;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitResponse.Code;
import dev.weir.protocol.envoy.RateLimitResponse.RateLimit;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.protocol.envoy.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import dev.weir.protocol.envoy.RateLimitUnit;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Envoy's newer fields, over gRPC and as JSON: hits given back, and windows of several units. */
class EnvoyHitsTest {
  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;
  private static RateLimitServiceBlockingStub envoy;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder);
    channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    envoy = RateLimitServiceGrpc.newBlockingStub(channel);
  }

  @AfterAll
  static void stop() {
    channel.shutdownNow();
    running.close();
  }

  private static RateLimitDescriptor.Builder descriptor(String key, String value) {
    return RateLimitDescriptor.newBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value));
  }

  private static RateLimitDescriptor.Builder hits(String value, long hits, boolean negative) {
    return descriptor("tenant", value)
        .setHitsAddend(UInt64Value.of(hits))
        .setIsNegativeHits(negative);
  }

  private static RateLimitRequest.Builder request(RateLimitDescriptor.Builder... descriptors) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
    for (RateLimitDescriptor.Builder each : descriptors) {
      request.addDescriptors(each);
    }
    return request;
  }

  private static RateLimitResponse send(RateLimitDescriptor.Builder... descriptors) {
    return envoy.shouldRateLimit(request(descriptors).build());
  }

  private static HttpResponse<String> json(RateLimitRequest.Builder request) throws Exception {
    return running.post("/json", JsonFormat.printer().print(request));
  }

  private static int left(String value) {
    return send(hits(value, 0, false)).getStatuses(0).getLimitRemaining();
  }

  @Test
  void negativeHits_areGivenBack() throws Exception {
    assertThat(send(hits("back", 400, false)).getOverallCode()).isEqualTo(Code.OK);
    RateLimitResponse answer = send(hits("back", 300, true));
    assertThat(answer.getOverallCode()).isEqualTo(Code.OK);
    assertThat(answer.getStatuses(0).getLimitRemaining()).isEqualTo(900);
    assertThat(json(request(hits("back", 40, true))).statusCode()).isEqualTo(200);
    assertThat(left("back")).isEqualTo(940);
    assertThat(send(hits("back", 1_000_000_000L, true)).getOverallCode()).isEqualTo(Code.OK);
    assertThat(left("back")).isEqualTo(1000);
  }

  @Test
  void negativeHitsWithoutANumber_areThoseOfTheRequest() {
    assertThat(send(hits("one", 10, false)).getOverallCode()).isEqualTo(Code.OK);
    RateLimitResponse first = send(descriptor("tenant", "one").setIsNegativeHits(true));
    assertThat(first.getStatuses(0).getLimitRemaining()).isEqualTo(991);
    RateLimitRequest.Builder several =
        request(descriptor("tenant", "one").setIsNegativeHits(true)).setHitsAddend(5);
    assertThat(envoy.shouldRateLimit(several.build()).getStatuses(0).getLimitRemaining())
        .isEqualTo(996);
  }

  @Test
  void negativeHitsOfARefusedRequest_freeNothing() {
    assertThat(send(hits("refused", 900, false)).getOverallCode()).isEqualTo(Code.OK);
    for (int i = 0; i < 3; i++) {
      assertThat(send(hits("refused", 200, false)).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
      assertThat(send(hits("refused", 200, true)).getOverallCode()).isEqualTo(Code.OK);
    }
    assertThat(left("refused")).isEqualTo(100);
  }

  @Test
  void negativeHitsOfAUsualRequestThatWasRefused_freeNothing() {
    RateLimitRequest usual = request(descriptor("user", "quick")).build();
    for (int i = 0; i < 3; i++) {
      assertThat(envoy.shouldRateLimit(usual).getOverallCode()).isEqualTo(Code.OK);
    }
    assertThat(envoy.shouldRateLimit(usual).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    assertThat(send(descriptor("user", "quick").setIsNegativeHits(true)).getOverallCode())
        .isEqualTo(Code.OK);
    assertThat(envoy.shouldRateLimit(usual).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
  }

  @Test
  void holdThatIsSettled_isOneChange() {
    assertThat(send(hits("hold", 800, false)).getOverallCode()).isEqualTo(Code.OK);
    RateLimitResponse settled = send(hits("hold", 800, true), hits("hold", 950, false));
    assertThat(settled.getOverallCode()).isEqualTo(Code.OK);
    assertThat(settled.getStatuses(1).getLimitRemaining()).isEqualTo(50);
    assertThat(left("hold")).isEqualTo(50);
  }

  @Test
  void hitsBeyondAnyLimit_areRefusedAndNeverWrapped() {
    for (long hits :
        new long[] {1_001, 1L << 32, (1L << 33) + 1, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
      assertThat(send(hits("much", hits, false)).getOverallCode())
          .as(Long.toUnsignedString(hits))
          .isEqualTo(Code.OVER_LIMIT);
    }
    assertThat(left("much")).isEqualTo(1000);
    assertThat(send(hits("much", 10, false), hits("much", -1, false)).getOverallCode())
        .isEqualTo(Code.OVER_LIMIT);
    assertThat(left("much")).isEqualTo(1000);
  }

  private static RateLimitDescriptor.Builder override(String value, int units) {
    return descriptor("any", value)
        .setLimit(
            RateLimitOverride.newBuilder()
                .setRequestsPerUnit(2)
                .setUnit(RateLimitUnit.SECOND)
                .setUnitMultiplier(UInt32Value.of(units)));
  }

  @Test
  void overrideOfSeveralUnits_holdsOverAllOfThem() throws Exception {
    RateLimitResponse first = send(override("own", 3600));
    assertThat(first.getStatuses(0).getCurrentLimit())
        .isEqualTo(
            RateLimit.newBuilder().setRequestsPerUnit(2).setUnit(RateLimit.Unit.HOUR).build());
    assertThat(send(override("own", 3600)).getOverallCode()).isEqualTo(Code.OK);
    RateLimitResponse third = send(override("own", 3600));
    assertThat(third.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    assertThat(third.getStatuses(0).getDurationUntilReset().getSeconds()).isGreaterThan(3000);
    assertThat(json(request(override("own", 3600))).statusCode()).isEqualTo(429);
    RateLimit.Builder several =
        RateLimit.newBuilder()
            .setRequestsPerUnit(2)
            .setUnit(RateLimit.Unit.MINUTE)
            .setUnitMultiplier(UInt32Value.of(5));
    assertThat(send(override("own", 300)).getStatuses(0).getCurrentLimit())
        .isEqualTo(several.build());
    assertThat(json(request(override("own", 300))).body())
        .contains(
            "\"currentLimit\":{\"requestsPerUnit\":2,\"unit\":\"MINUTE\",\"unitMultiplier\":5}");
  }

  @Test
  void ruleOfSeveralUnits_tellsThem() {
    assertThat(send(descriptor("odd", "w")).getStatuses(0).getCurrentLimit())
        .isEqualTo(
            RateLimit.newBuilder()
                .setRequestsPerUnit(5)
                .setUnit(RateLimit.Unit.SECOND)
                .setUnitMultiplier(UInt32Value.of(90))
                .build());
  }

  @Test
  void overrideOfNoUnitsOrTooMany_isAnError() {
    for (int units : new int[] {0, 31_622_401, -1}) {
      assertThatThrownBy(() -> send(override("own", units)))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessage(
              "UNKNOWN: descriptors[0].limit.unit_multiplier: "
                  + Integer.toUnsignedString(units)
                  + " (expected: 1..31622400 of unit SECOND)");
    }
  }
}
