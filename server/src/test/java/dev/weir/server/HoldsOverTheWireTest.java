package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Reason;
import dev.weir.client.WeirClient;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.protocol.v1.WeirProto.HoldRequest;
import dev.weir.protocol.v1.WeirProto.HoldResponse;
import dev.weir.protocol.v1.WeirProto.SettleOutcome;
import dev.weir.protocol.v1.WeirProto.SettleRequest;
import dev.weir.protocol.v1.WeirProto.SettleResponse;
import dev.weir.rules.Request;
import dev.weir.server.settings.StartException;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds over each protocol, at two servers with a real Redis; each is settled at the other one. */
class HoldsOverTheWireTest extends ServerPair {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: tokens
          rate_limit: {unit: day, requests_per_unit: 1000}
        - key: requests
          rate_limit: {unit: day, requests_per_unit: 10}
        - key: reported
          rate_limit: {unit: day, requests_per_unit: 1000, costs: reported}
      """;

  HoldsOverTheWireTest() {
    super(RULES);
  }

  private static String hold(RunningServer server, long permits) throws Exception {
    HttpResponse<String> answer = server.post("/v1/hold", check("tokens", permits));
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.body();
  }

  /** Returns the first value of a member, without quotes. */
  private static String member(String body, String name) {
    Matcher member = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(body);
    assertThat(member.find()).as(body).isTrue();
    return member.group(1);
  }

  private static String check(String key, long permits) {
    return "{\"domain\":\"test\",\"descriptor\":{\""
        + key
        + "\":\"a\"},\"permits\":"
        + permits
        + "}";
  }

  private static String settlement(String hold, String permits) {
    return "{\"hold\":\"" + hold + "\",\"permits\":" + permits + "}";
  }

  private static String settle(RunningServer server, String hold, String permits) throws Exception {
    HttpResponse<String> answer = server.post("/v1/settle", settlement(hold, permits));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static long left(RunningServer server) throws Exception {
    return Long.parseLong(member(server.post("/v1/check", check("tokens", 0)).body(), "remaining"));
  }

  @Test
  void holdOverHttp_isSettledAtTheOtherServer_once() throws Exception {
    String held = hold(one, 600);
    assertThat(held).contains("\"allowed\":true", "\"remaining\":400");
    HttpResponse<String> refused = two.post("/v1/hold", check("tokens", 600));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).contains("quota-exceeded").doesNotContain("\"hold\"");
    assertThat(refused.headers().firstValue("retry-after")).isPresent();

    String hold = member(held, "hold");
    assertThat(settle(two, hold, "250"))
        .isEqualTo("{\"outcome\":\"SETTLED\",\"returned\":350,\"charged\":0}");
    for (RunningServer each : List.of(one, two)) {
      assertThat(settle(each, hold, "0"))
          .isEqualTo("{\"outcome\":\"SETTLED_BEFORE\",\"returned\":0,\"charged\":0}");
      assertThat(left(each)).isEqualTo(750);
    }
    assertThat(two.get("/metrics").body())
        .contains("weir_holds_settled_total 1.0\n", "weir_hold_returned_permits_total 350.0\n");
  }

  @Test
  void costsOfEachDescriptor_areAList_andABodyThatIsWrongIsRefused() throws Exception {
    HttpResponse<String> held =
        one.post(
            "/v1/hold",
            "{\"domain\":\"test\",\"permits\":500,\"descriptors\":["
                + "{\"entries\":[{\"key\":\"requests\",\"value\":\"a\"}],\"permits\":1},"
                + "{\"entries\":[{\"key\":\"tokens\",\"value\":\"a\"}]}]}");
    String hold = member(held.body(), "hold");
    for (Map.Entry<String, String> wrong :
        Map.of(
                "{}",
                "hold: missing (expected: the text of a granted hold)",
                "{\"hold\":\"x\"}",
                "permits: missing (expected: a number, or one for each",
                settlement(hold, "-1"),
                "permits: -1 (expected: a whole number, 0..9007199254740991)",
                settlement(hold, "[1,2,3]"),
                "permits: 3 numbers (expected: 1, or one of each",
                settlement(hold + "AAAA", "1"),
                "hold: not signed by this server's key",
                settlement(hold, "1,\"more\":1"),
                "more: unknown (expected: one of hold, permits)")
            .entrySet()) {
      HttpResponse<String> answer = one.post("/v1/settle", wrong.getKey());
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains(wrong.getValue());
    }
    assertThat(settle(two, hold, "[1,700]"))
        .isEqualTo("{\"outcome\":\"SETTLED\",\"returned\":0,\"charged\":200}");
    assertThat(left(one)).isEqualTo(300);
    HttpResponse<String> reported = one.post("/v1/hold", check("reported", 3));
    assertThat(reported.statusCode()).isEqualTo(400);
    assertThat(reported.body()).contains("costs: reported (expected: before or held");
  }

  @Test
  void holdOverTheRedisProtocol_isSettledOverGrpc_andTheOtherWayRound() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", two.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try (RespClient client = new RespClient(one.server.respPort())) {
      WeirGrpc.WeirBlockingStub stub = WeirGrpc.newBlockingStub(channel);
      List<?> held =
          (List<?>) Objects.requireNonNull(client.call("WEIR.HOLD", "test", "600", "tokens", "a"));
      assertThat(held).hasSize(8);
      assertThat(String.valueOf(held)).startsWith("[1, 1000, 400, ");
      SettleResponse settled =
          stub.settle(
              SettleRequest.newBuilder()
                  .setHold(String.valueOf(held.get(7)))
                  .addPermits(250)
                  .build());
      assertThat(settled.getOutcome()).isEqualTo(SettleOutcome.SETTLE_OUTCOME_SETTLED);
      assertThat(settled.getReturned()).isEqualTo(350);

      Check check =
          Check.newBuilder()
              .setDomain("test")
              .setPermits(700)
              .addDescriptors(
                  Descriptor.newBuilder()
                      .addEntries(Entry.newBuilder().setKey("tokens").setValue("a")))
              .build();
      HoldResponse granted = stub.hold(HoldRequest.newBuilder().setCheck(check).build());
      assertThat(granted.getResult().getAllowed()).isTrue();
      assertThat(client.exchange("WEIR.SETTLE", granted.getHold(), "900"))
          .isEqualTo("*3|$7|SETTLED|:0|:200|");
      assertThat(client.exchange("WEIR.SETTLE", granted.getHold(), "0"))
          .isEqualTo("*3|$14|SETTLED_BEFORE|:0|:0|");
      assertThat(client.exchange("WEIR.HOLD", "test", "1", "tokens", "a"))
          .startsWith("*8|:0|:1000|:0|")
          .endsWith("|$0||");

      assertThat(client.exchange("WEIR.SETTLE", "x", "1"))
          .startsWith("-ERR hold: not in base64 for URLs (expected: the text of a granted hold");
      assertThat(client.exchange("WEIR.SETTLE", "x"))
          .startsWith("-ERR wrong number of arguments for 'weir.settle' command");
      assertThat(client.exchange("WEIR.HOLD", "test", "1", "tokens"))
          .startsWith("-ERR wrong number of arguments for 'weir.hold' command");
      assertThatThrownBy(() -> stub.settle(SettleRequest.newBuilder().setHold("x").build()))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void holdOfTheClient_isSettledByWhicheverServerAnswers() throws Exception {
    String[] both = {"127.0.0.1:" + one.server.grpcPort(), "127.0.0.1:" + two.server.grpcPort()};
    try (WeirClient client = WeirClient.builder(both).deadline(Duration.ofSeconds(30)).build()) {
      Request request =
          new Request("test", List.of(Request.of("test", "tokens", "a").descriptors().get(0)), 600);
      HoldAnswer held = client.hold(request).toCompletableFuture().get(1, TimeUnit.MINUTES);
      assertThat(held.answer().allowed()).isTrue();
      assertThat(held.answer().statuses().get(0).limitRemaining()).isEqualTo(400);
      HoldAnswer refused = client.hold(request).toCompletableFuture().get(1, TimeUnit.MINUTES);
      assertThat(refused.answer().allowed()).isFalse();
      assertThat(refused.hold()).isEmpty();
      one.close();
      assertThat(client.settle(held.hold(), 250).toCompletableFuture().get(1, TimeUnit.MINUTES))
          .isEqualTo(new Settlement(Outcome.SETTLED, 350, 0));
      assertThat(client.settle(held.hold(), 0).toCompletableFuture().get(1, TimeUnit.MINUTES))
          .isEqualTo(new Settlement(Outcome.SETTLED_BEFORE, 0, 0));
      assertThatThrownBy(() -> client.settle("x", 0).toCompletableFuture().get(1, TimeUnit.MINUTES))
          .hasCauseInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("hold: not in base64 for URLs");
      two.close();
      HoldAnswer away = client.hold(request).toCompletableFuture().get(1, TimeUnit.MINUTES);
      assertThat(away.answer().allowed()).isFalse();
      assertThat(away.answer().reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(client.settle(held.hold(), 0).toCompletableFuture().get(1, TimeUnit.MINUTES))
          .isEqualTo(new Settlement(Outcome.UNCERTAIN, 0, 0));
    }
    one = server();
    two = server();
  }

  @Test
  void hold_isSettledAfterARestart_andNotWhileTheStoreIsAway() throws Exception {
    String hold = member(hold(one, 600), "hold");
    one.close();
    one = server();
    assertThat(settle(one, hold, "100"))
        .isEqualTo("{\"outcome\":\"SETTLED\",\"returned\":500,\"charged\":0}");
    assertThat(left(two)).isEqualTo(900);

    String second = member(hold(two, 600), "hold");
    redis.kill();
    HttpResponse<String> uncertain = two.post("/v1/settle", settlement(second, "100"));
    assertThat(uncertain.statusCode()).isEqualTo(503);
    assertThat(uncertain.body()).contains("not decided whether the hold was settled before");
    try (RespClient client = new RespClient(two.server.respPort())) {
      assertThat(client.exchange("WEIR.SETTLE", second, "100")).startsWith("-UNCERTAIN ");
    }
  }

  @Test
  void secretThatIsShort_endsTheStart() throws Exception {
    Path key = Files.writeString(folder.resolve("short"), "secret");
    assertThatThrownBy(() -> RunningServer.start(folder, "hold-key-file", key.toString()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("6 characters (expected: at least 32, for example of openssl rand");
  }
}
