package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.protocol.http.LeaseNumber;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseAsk;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.LeaseReturn;
import dev.weir.protocol.v1.WeirProto.OnFailure;
import dev.weir.protocol.v1.WeirProto.Refund;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of leases over each protocol; windows are long, so that nothing ends meanwhile. */
class LeaseDoorTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit:
            {window: 1h, requests_per_unit: 100, consistency: leased, sync_interval: 1m,
             on_failure: allow}
        - key: strict
          rate_limit: {unit: hour, requests_per_unit: 3, on_failure: local, local_share: 25%}
      """;

  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;
  private static WeirGrpc.WeirBlockingStub weir;

  @BeforeAll
  static void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    running = RunningServer.start(Map.of("rules", rules.toString()));
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

  private static LeaseAsk.Builder request(String key, String value, long... ahead) {
    LeaseAsk.Builder ask =
        LeaseAsk.newBuilder()
            .setCheck(
                Check.newBuilder()
                    .setDomain("test")
                    .addDescriptors(
                        Descriptor.newBuilder()
                            .addEntries(Entry.newBuilder().setKey(key).setValue(value))));
    for (long each : ahead) {
      ask.addAhead(each);
    }
    return ask;
  }

  private static Grant lease(LeaseAsk.Builder ask) {
    return weir.lease(LeaseRequest.newBuilder().addAsks(ask).build()).getGrants(0);
  }

  private static long remaining(String key, String value) {
    LeaseAsk.Builder ask = request(key, value);
    ask.getCheckBuilder().setPermits(0);
    return lease(ask).getResult().getStatuses(0).getRemaining();
  }

  @Test
  void refusedRequestOfALease_isLogged() throws Exception {
    Path rules = Files.writeString(folder.resolve("logged.yaml"), RULES);
    try (LogCapture log = new LogCapture();
        RunningServer logging =
            RunningServer.start(
                Map.of("rules", rules.toString()),
                "log-refusals",
                "100%",
                "log-refusals-keys",
                "plain")) {
      String asks =
          "{\"asks\":[{\"check\":{\"domain\":\"test\",\"descriptor\":{\"strict\":\"x\"},\"permits\":4}}]}";
      assertThat(logging.post("/v1/lease", asks).body()).contains("OVER_LIMIT");
      assertThat(log.await("refused: ")).contains("strict=x: OVER_LIMIT");
    }
  }

  @Test
  void grpc_lendsAndTakesBackOnce() {
    Grant grant = lease(request("user", "grpc", 1_000).setId(7).setRefundable(true));
    assertThat(grant.getId()).isEqualTo(7);
    assertThat(grant.getResult().getAllowed()).isTrue();
    DescriptorLease lease = grant.getLeases(0);
    assertThat(lease.getPermits()).isEqualTo(24);
    assertThat(lease.getLifeUs()).isEqualTo(60_000_000);
    assertThat(lease.getLeased()).isTrue();
    assertThat(lease.getOnFailure()).isEqualTo(OnFailure.ON_FAILURE_ALLOW);
    assertThat(remaining("user", "grpc")).isEqualTo(75);

    LeaseRequest back =
        LeaseRequest.newBuilder()
            .addReturns(LeaseReturn.newBuilder().setLease(lease.getLease()).setPermits(20))
            .addRefunds(Refund.newBuilder().setCharge(grant.getCharge()))
            .build();
    assertThat(weir.lease(back).getTakenBack()).isEqualTo(21);
    assertThat(weir.lease(back).getTakenBack()).isZero();
    assertThat(remaining("user", "grpc")).isEqualTo(96);
  }

  @Test
  void grpc_saysForHowLongARefusalHolds() {
    for (int i = 0; i < 3; i++) {
      assertThat(lease(request("strict", "grpc", 5)).getLeases(0).getLease()).isZero();
    }
    Grant refused = lease(request("strict", "grpc"));
    assertThat(refused.getResult().getAllowed()).isFalse();
    DescriptorLease lease = refused.getLeases(0);
    assertThat(lease.getRefuseForMs()).isEqualTo(30_000);
    assertThat(lease.getRefusePermits()).isOne();
    assertThat(lease.getLeased()).isFalse();
    assertThat(lease.getOnFailure()).isEqualTo(OnFailure.ON_FAILURE_LOCAL);
    assertThat(lease.getLocalShare()).isEqualTo(0.25);
  }

  @Test
  void malformedAsk_doesNotAffectTheOthers() {
    LeaseResponse response =
        weir.lease(
            LeaseRequest.newBuilder()
                .addAsks(request("user", "mixed", 1, 2))
                .addAsks(LeaseAsk.newBuilder().setId(9))
                .addAsks(request("user", "mixed", -1))
                .build());
    assertThat(response.getGrants(0).getResult().getError())
        .isEqualTo("asks[0].ahead: 2 numbers (expected: at most one for each descriptor, 1)");
    assertThat(response.getGrants(1).getResult().getError()).contains("domain must not be empty");
    assertThat(response.getGrants(1).getId()).isEqualTo(9);
    assertThat(response.getGrants(2).getResult().getAllowed()).isTrue();
    assertThat(response.getGrants(2).getLeases(0).getPermits()).isEqualTo(24);
    assertThat(response.getRevision()).isOne();
  }

  @Test
  void tooMuchForOneCall_isRefusedWhole() {
    LeaseRequest.Builder asks = LeaseRequest.newBuilder();
    for (int i = 0; i < 1_001; i++) {
      asks.addAsks(request("user", "many"));
    }
    assertThatThrownBy(() -> weir.lease(asks.build()))
        .hasMessage("INVALID_ARGUMENT: asks: more than 1000 (expected: at most 1000)");
    LeaseRequest.Builder returns = LeaseRequest.newBuilder();
    LeaseRequest.Builder refunds = LeaseRequest.newBuilder();
    for (int i = 0; i < 10_001; i++) {
      returns.addReturns(LeaseReturn.newBuilder().setLease(i));
      refunds.addRefunds(Refund.newBuilder().setCharge(i));
    }
    assertThatThrownBy(() -> weir.lease(returns.build()))
        .hasMessage("INVALID_ARGUMENT: returns: more than 10000 (expected: at most 10000)");
    assertThatThrownBy(() -> weir.lease(refunds.build()))
        .hasMessage("INVALID_ARGUMENT: refunds: more than 10000 (expected: at most 10000)");
    assertThat(remaining("user", "many")).isEqualTo(100);
  }

  @Test
  void stream_answersInOrder() throws Exception {
    List<Long> ids = new ArrayList<>();
    CompletableFuture<List<Long>> all = new CompletableFuture<>();
    StreamObserver<LeaseRequest> stream =
        WeirGrpc.newStub(channel)
            .leaseStream(
                new StreamObserver<>() {
                  @Override
                  public void onNext(LeaseResponse response) {
                    ids.add(response.getGrants(0).getId());
                  }

                  @Override
                  public void onError(Throwable error) {
                    all.completeExceptionally(error);
                  }

                  @Override
                  public void onCompleted() {
                    all.complete(ids);
                  }
                });
    for (int i = 1; i <= 3; i++) {
      stream.onNext(LeaseRequest.newBuilder().addAsks(request("user", "stream").setId(i)).build());
    }
    stream.onCompleted();
    assertThat(all.get(20, TimeUnit.SECONDS)).containsExactly(1L, 2L, 3L);
  }

  @Test
  void http_lendsAndTakesBackOnce() throws Exception {
    HttpResponse<String> lent =
        running.post(
            "/v1/lease",
            """
            {"asks": [{"check": {"domain": "test", "descriptor": {"user": "http"}},
                       "ahead": [10], "refundable": true, "id": "00000000000000ff"},
                      {"check": {"domain": "test"}}]}
            """);
    assertThat(lent.statusCode()).isEqualTo(200);
    assertThat(lent.headers().firstValue("Cache-Control")).contains("no-store");
    Matcher body =
        Pattern.compile(
                "\\{\"revision\":1,\"taken-back\":0,\"grants\":\\[\\{\"id\":\"00000000000000ff\","
                    + "\"result\":\\{\"allowed\":true,.*\\},\"charge\":\"([0-9a-f]{16})\","
                    + "\"leases\":\\[\\{\"leased\":true,\"lease\":\"([0-9a-f]{16})\","
                    + "\"permits\":10,\"life-us\":60000000,\"on-failure\":\"allow\"\\}\\]\\},"
                    + "\\{\"error\":\"asks\\[1\\].check.*\"\\}\\]\\}")
            .matcher(lent.body());
    assertThat(body.matches()).as(lent.body()).isTrue();
    String back =
        "{\"returns\":[{\"lease\":\"%s\",\"permits\":9}],\"refunds\":[\"%s\"]}"
            .formatted(body.group(2), body.group(1));
    String first = running.post("/v1/lease", back).body();
    assertThat(first).isEqualTo("{\"revision\":1,\"taken-back\":10,\"grants\":[]}");
    assertThat(running.post("/v1/lease", back).body()).contains("\"taken-back\":0");
    assertThat(remaining("user", "http")).isEqualTo(99);
  }

  @Test
  void http_refusesBadInputWithOneClearError() throws Exception {
    Map<String, String> detail =
        Map.of(
            "{\"returns\":[{\"lease\":\"xyz\",\"permits\":1}]}",
            "line 1, column 22: returns[0].lease: xyz (expected: 16 hexadecimal digits)",
            "{\"returns\":[{\"lease\":\"00000000000000aa\"}]}",
            "returns[0].permits: missing (expected: how many were not spent)",
            "{\"returns\":[{\"permits\":1}]}",
            "returns[0].lease: missing (expected: 16 hexadecimal digits)",
            "{\"refunds\":[12]}",
            "refunds[0]: 12 (expected: 16 hexadecimal digits)",
            "{\"lease\":1}",
            "lease: unknown (expected: one of asks, returns, refunds)");
    detail.forEach(
        (body, error) -> {
          try {
            HttpResponse<String> answer = running.post("/v1/lease", body);
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(answer.body()).contains(error);
          } catch (Exception e) {
            throw new AssertionError(body, e);
          }
        });
    assertThat(
            running
                .post(
                    "/v1/lease",
                    "{\"asks\":[{\"check\":{\"domain\":\"test\",\"descriptor\":{\"user\":\"bad\"}},"
                        + "\"ahead\":[-1]}]}")
                .body())
        .contains("asks[0].ahead[0]: -1 (expected: a whole number, 0..9007199254740991)");
  }

  @Test
  void resp_lendsAndTakesBackOnce() throws Exception {
    try (RespClient client = new RespClient(running.server.respPort())) {
      String[] reply =
          client.exchange("WEIR.LEASE", "test", "2", "8", "user", "resp").split("[|]", -1);
      assertThat(reply)
          .startsWith("*13", ":1", ":100", ":98", ":0")
          .contains(":8", ":60000000", "allow", ":1");
      String lease = reply[11];
      assertThat(LeaseNumber.matches(lease)).as(String.join(" ", reply)).isTrue();
      assertThat(client.exchange("WEIR.RETURN", lease, "5")).isEqualTo(":5|");
      assertThat(client.exchange("WEIR.RETURN", lease, "5")).isEqualTo(":0|");
      assertThat(client.exchange("weir.return", "00000000000000aa", "1", lease, "1"))
          .isEqualTo(":0|");
      assertThat(remaining("user", "resp")).isEqualTo(95);
      assertThat(client.exchange("WEIR.LEASE", "test", "1", "8", "nothing", "x"))
          .isEqualTo("*13|:1|:-1|:-1|:0|:0|$0||$8|NO_LIMIT|$0||:0|:0|:0|$0||:0|");
    }
  }

  @Test
  void resp_refusesBadInputWithOneClearError() throws Exception {
    try (RespClient client = new RespClient(running.server.respPort())) {
      assertThat(client.exchange("WEIR.RETURN", "12", "1"))
          .isEqualTo("-ERR lease: 12 (expected: 16 hexadecimal digits, of WEIR.LEASE)|");
      assertThat(client.exchange("WEIR.RETURN", "00000000000000aa"))
          .startsWith(
              "-ERR wrong number of arguments for 'weir.return' command (expected: <lease>");
      assertThat(client.exchange("WEIR.LEASE", "test", "1", "user", "x"))
          .startsWith(
              "-ERR wrong number of arguments for 'weir.lease' command (expected: <domain>");
      assertThat(client.exchange("WEIR.LEASE", "test", "1", "many", "user", "x"))
          .contains("ahead: many (expected:");
      assertThat(client.exchange("WEIR.LEASE", "", "1", "1", "user", "x"))
          .startsWith("-ERR rate limit domain must not be empty");
    }
  }

  @Test
  void metrics_countWhatIsLent() throws Exception {
    Grant grant = lease(request("user", "metrics", 10));
    assertThat(running.metric("weir_leases_outstanding")).isPositive();
    assertThat(running.metric("weir_lease_permits_total")).isGreaterThanOrEqualTo(10);
    long before = running.metric("weir_lease_returned_permits_total");
    LeaseReturn.Builder back =
        LeaseReturn.newBuilder().setLease(grant.getLeases(0).getLease()).setPermits(4);
    assertThat(weir.lease(LeaseRequest.newBuilder().addReturns(back).build()).getTakenBack())
        .isEqualTo(4);
    assertThat(running.metric("weir_lease_returned_permits_total")).isEqualTo(before + 4);
    assertThat(running.metric("weir_max_leases")).isEqualTo(100_000);
  }
}
