package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.Code;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.protocol.v1.WeirProto.Limit;
import dev.weir.protocol.v1.WeirProto.Reason;
import dev.weir.protocol.v1.WeirProto.Unit;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of many checks in one call over gRPC. */
class WeirServiceTest {
  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;
  private static WeirGrpc.WeirBlockingStub weir;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder, "max-descriptors", "20");
    channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    weir = WeirGrpc.newBlockingStub(channel);
  }

  @AfterAll
  static void stop() {
    channel.shutdownNow();
    running.close();
  }

  private static Descriptor.Builder descriptor(String key, String value) {
    return Descriptor.newBuilder().addEntries(Entry.newBuilder().setKey(key).setValue(value));
  }

  private static Check.Builder check(String key, String value) {
    return Check.newBuilder().setDomain("test").addDescriptors(descriptor(key, value));
  }

  private static CheckBatchRequest batch(Check.Builder... checks) {
    CheckBatchRequest.Builder batch = CheckBatchRequest.newBuilder();
    for (Check.Builder check : checks) {
      batch.addChecks(check);
    }
    return batch.build();
  }

  @Test
  void admittedChecks_sayWhy() {
    CheckBatchResponse response =
        weir.checkBatch(
            batch(
                check("tenant", "why"),
                check("free", "why"),
                check("unknown", "why"),
                check("watched", "why").setPermits(2),
                check("user", "why").setDomain("nowhere")));
    assertThat(response.getResultsList())
        .extracting(CheckResult::getReason)
        .containsExactly(
            Reason.REASON_WITHIN_LIMIT,
            Reason.REASON_NO_LIMIT,
            Reason.REASON_NO_LIMIT,
            Reason.REASON_SHADOW,
            Reason.REASON_NO_LIMIT);
    assertThat(response.getResults(2).getStatuses(0).getReason()).isEqualTo(Reason.REASON_NO_LIMIT);
  }

  @Test
  void mixedBatch_isAnsweredInOrder() {
    CheckBatchResponse response =
        weir.checkBatch(
            batch(
                check("user", "mix").setPermits(2),
                check("user", "mix").setPermits(2),
                check("user", "mix").setPermits(0),
                check("user", "mix").setPermits(4),
                check("user", "").setDomain(""),
                check("user", "mix"),
                check("free", "mix"),
                Check.newBuilder()
                    .setDomain("test")
                    .addDescriptors(descriptor("odd", "mix").setPermits(3))
                    .addDescriptors(descriptor("none", "mix"))));
    assertThat(response.getRevision()).isOne();
    assertThat(response.getResultsList())
        .extracting(CheckResult::getAllowed)
        .containsExactly(true, false, true, false, false, true, true, true);
    DescriptorStatus status = response.getResults(0).getStatuses(0);
    assertThat(status)
        .isEqualTo(
            DescriptorStatus.newBuilder()
                .setCode(Code.CODE_OK)
                .setRule("test.user")
                .setPolicy("per-user")
                .setLimit(3)
                .setWindowMs(60_000)
                .setAlgorithm("sliding-window")
                .setRemaining(1)
                .setReason(Reason.REASON_WITHIN_LIMIT)
                .setRetryAfterMs(0)
                .setResetAfterMs(status.getResetAfterMs())
                .build());
    assertThat(status.getResetAfterMs()).isBetween(1L, 61_000L);
    CheckResult refused = response.getResults(1);
    assertThat(refused.getReason()).isEqualTo(Reason.REASON_OVER_LIMIT);
    assertThat(refused.getRetryAfterMs()).isBetween(1L, 60_000L);
    assertThat(refused.getStatuses(0).getCode()).isEqualTo(Code.CODE_OVER_LIMIT);
    assertThat(refused.getStatuses(0).getRetryAfterMs()).isEqualTo(refused.getRetryAfterMs());
    CheckResult never = response.getResults(3);
    assertThat(never.getReason()).isEqualTo(Reason.REASON_OVER_LIMIT);
    assertThat(never.hasRetryAfterMs()).isFalse();
    assertThat(never.getStatuses(0).hasRetryAfterMs()).isFalse();
    assertThat(response.getResults(4))
        .isEqualTo(
            CheckResult.newBuilder().setError("rate limit domain must not be empty").build());
    assertThat(response.getResults(5).getStatuses(0).getRemaining()).isZero();
    assertThat(response.getResults(6).getStatuses(0))
        .isEqualTo(
            DescriptorStatus.newBuilder()
                .setCode(Code.CODE_OK)
                .setRule("test.free")
                .setUnlimited(true)
                .setReason(Reason.REASON_NO_LIMIT)
                .build());
    assertThat(response.getResults(7).getStatuses(0).getRemaining()).isEqualTo(2);
    assertThat(response.getResults(7).getStatuses(1))
        .isEqualTo(
            DescriptorStatus.newBuilder()
                .setCode(Code.CODE_OK)
                .setReason(Reason.REASON_NO_LIMIT)
                .build());
  }

  @Test
  void limitOfTheCheck_isInForceInEveryUnit() {
    long[] seconds = {1, 60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000};
    CheckBatchRequest.Builder batch = CheckBatchRequest.newBuilder();
    for (int unit = 0; unit <= 8; unit++) {
      Limit.Builder limit = Limit.newBuilder().setRequestsPerUnit(9).setUnitValue(unit);
      batch.addChecks(
          Check.newBuilder()
              .setDomain("test")
              .addDescriptors(descriptor("any", "unit"))
              .addDescriptors(descriptor("own", "unit").setLimit(limit)));
    }
    List<CheckResult> results = weir.checkBatch(batch.build()).getResultsList();
    for (int unit = 1; unit <= 7; unit++) {
      assertThat(results.get(unit).getStatuses(1))
          .extracting(DescriptorStatus::getWindowMs, DescriptorStatus::getRemaining)
          .as("%s", Unit.forNumber(unit))
          .containsExactly(1_000 * seconds[unit - 1], 8L);
    }
    for (int unit : new int[] {0, 8}) {
      assertThat(results.get(unit).getError())
          .isEqualTo(
              "checks[%d].descriptors[1].limit.unit: %d (expected: 1..7, UNIT_SECOND to UNIT_YEAR)",
              unit, unit);
    }
  }

  @Test
  void tooManyInOneCall_areInvalid() {
    CheckBatchRequest.Builder most = CheckBatchRequest.newBuilder();
    for (int i = 0; i < CheckBatch.MAX_CHECKS; i++) {
      most.addChecks(check("tenant", "t" + i));
    }
    assertThat(weir.checkBatch(most.build()).getResultsCount()).isEqualTo(1_000);
    assertThatThrownBy(() -> weir.checkBatch(most.addChecks(check("tenant", "t")).build()))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessage("INVALID_ARGUMENT: checks: more than 1000 (expected: at most 1000)");
    CheckBatchRequest.Builder wide = CheckBatchRequest.newBuilder();
    for (int i = 0; i < 501; i++) {
      Check.Builder check = Check.newBuilder().setDomain("test");
      for (int k = 0; k < 20; k++) {
        check.addDescriptors(Descriptor.getDefaultInstance());
      }
      wide.addChecks(check);
    }
    assertThatThrownBy(() -> weir.checkBatch(wide.build()))
        .hasMessage("INVALID_ARGUMENT: checks: 10020 descriptors (expected: at most 10000)");
    assertThat(weir.checkBatch(batch()).getResultsCount()).isZero();
  }

  /** A client that reads only at the test's command. */
  private static final class Client
      implements ClientResponseObserver<CheckBatchRequest, CheckBatchResponse> {
    final List<CheckBatchResponse> responses = new ArrayList<>();
    final CompletableFuture<List<CheckBatchResponse>> all = new CompletableFuture<>();

    ClientCallStreamObserver<CheckBatchRequest> start() {
      return (ClientCallStreamObserver<CheckBatchRequest>)
          WeirGrpc.newStub(channel).checkStream(this);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<CheckBatchRequest> requests) {
      requests.disableAutoRequestWithInitial(0);
    }

    @Override
    public void onNext(CheckBatchResponse response) {
      responses.add(response);
    }

    @Override
    public void onError(Throwable error) {
      all.completeExceptionally(error);
    }

    @Override
    public void onCompleted() {
      all.complete(responses);
    }
  }

  @Test
  void stream_answersEachRequestInOrder_howeverLateTheClientReads() throws Exception {
    Client client = new Client();
    ClientCallStreamObserver<CheckBatchRequest> call = client.start();
    int requests = 120;
    for (int i = 0; i < requests; i++) {
      CheckBatchRequest.Builder batch = CheckBatchRequest.newBuilder();
      batch.addChecks(check("tenant", "stream").setPermits(i < 100 ? 2 : 0));
      for (int k = 0; k < 300; k++) {
        batch.addChecks(check("user", "stream-" + i + "-" + k));
      }
      call.onNext(batch.build());
    }
    call.onCompleted();
    call.request(requests);
    List<CheckBatchResponse> responses = client.all.get(60, TimeUnit.SECONDS);
    assertThat(responses).hasSize(requests);
    int bytes = 0;
    for (int i = 0; i < requests; i++) {
      CheckBatchResponse response = responses.get(i);
      bytes += response.getSerializedSize();
      assertThat(response.getResultsCount()).isEqualTo(301);
      assertThat(response.getResults(0).getStatuses(0).getRemaining())
          .as("response %d", i)
          .isEqualTo(1_000 - 2L * Math.min(100, i + 1));
    }
    assertThat(bytes).as("more than fits into the windows").isGreaterThan(2 << 20);
  }

  @Test
  void streamWithTooManyInOneRequest_endsAsInvalid() {
    Client client = new Client();
    ClientCallStreamObserver<CheckBatchRequest> call = client.start();
    call.onNext(batch(check("user", "before")));
    CheckBatchRequest.Builder many = CheckBatchRequest.newBuilder();
    for (int i = 0; i <= CheckBatch.MAX_CHECKS; i++) {
      many.addChecks(check("user", "many"));
    }
    call.onNext(many.build());
    call.request(5);
    assertThatThrownBy(() -> client.all.get(30, TimeUnit.SECONDS))
        .hasMessageContaining("INVALID_ARGUMENT: checks: more than 1000 (expected: at most 1000)");
    assertThat(client.responses).hasSize(1);
  }

  @Test
  void health_isServing() {
    assertThat(
            HealthGrpc.newBlockingStub(channel)
                .check(HealthCheckRequest.newBuilder().setService(WeirGrpc.SERVICE_NAME).build())
                .getStatus())
        .isEqualTo(ServingStatus.SERVING);
  }
}
