package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.client.ClientSeat;
import dev.weir.client.WeirClient;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.AcquireRequest;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.protocol.v1.WeirProto.SeatOutcome;
import dev.weir.protocol.v1.WeirProto.SeatRequest;
import dev.weir.rules.Request;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Seats over each protocol, at two servers with a real Redis; each is given back at the other. */
class SeatsOverTheWireTest extends ServerPair {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: exports
          rate_limit: {concurrency: 2, hold: 1m}
        - key: short
          rate_limit: {concurrency: 1, hold: 1s}
        - key: requests
          rate_limit: {unit: day, requests_per_unit: 10}
      """;

  SeatsOverTheWireTest() {
    super(RULES);
  }

  private static String check(String key) {
    return "{\"domain\":\"test\",\"descriptor\":{\"" + key + "\":\"a\"}}";
  }

  private static String acquire(RunningServer server, String key) throws Exception {
    HttpResponse<String> answer = server.post("/v1/acquire", check(key));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    Matcher seat = Pattern.compile("\"seat\":\"([^\"]*)\"").matcher(answer.body());
    assertThat(seat.find()).as(answer.body()).isTrue();
    return seat.group(1);
  }

  private static String call(RunningServer server, String path, String seats) throws Exception {
    HttpResponse<String> answer = server.post(path, "{\"seat\":" + seats + "}");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void seatOverHttp_isRenewedAndGivenBackAtTheOtherServer_once() throws Exception {
    String first = acquire(one, "exports");
    String second = acquire(two, "exports");
    HttpResponse<String> refused = one.post("/v1/acquire", check("exports"));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).contains("quota-exceeded").doesNotContain("\"seat\"");
    assertThat(refused.headers().firstValue("retry-after")).isPresent();

    String both = "[\"" + first + "\",\"" + second + "\"]";
    assertThat(call(two, "/v1/renew", both)).isEqualTo("{\"outcomes\":[\"DONE\",\"DONE\"]}");
    assertThat(call(two, "/v1/release", '"' + first + '"')).isEqualTo("{\"outcomes\":[\"DONE\"]}");
    assertThat(call(one, "/v1/release", both)).isEqualTo("{\"outcomes\":[\"LOST\",\"DONE\"]}");
    assertThat(call(one, "/v1/renew", both)).isEqualTo("{\"outcomes\":[\"LOST\",\"LOST\"]}");
    assertThat(one.get("/metrics").body())
        .contains("weir_seats_released_total 1.0\n", "weir_seats_lost_total 3.0\n");
  }

  @Test
  void bodyThatIsWrong_isRefused_andNothingIsDone() throws Exception {
    String seat = acquire(one, "exports");
    for (Map.Entry<String, String> wrong :
        Map.of(
                "{}",
                "seat: missing (expected: the text of a granted seat, or a list of them)",
                "{\"seat\":1}",
                "seat: 1 (expected: a list)",
                "{\"seat\":[\"" + seat + "\",\"x\"]}",
                "seat: not in base64 for URLs",
                "{\"seat\":\"" + seat + "\",\"more\":1}",
                "more: unknown (expected: one of seat)")
            .entrySet()) {
      HttpResponse<String> answer = one.post("/v1/release", wrong.getKey());
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains(wrong.getValue());
    }
    assertThat(call(one, "/v1/release", '"' + seat + '"')).isEqualTo("{\"outcomes\":[\"DONE\"]}");
  }

  @Test
  void seatOverTheRedisProtocol_isGivenBackOverGrpc_andTheOtherWayRound() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", two.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try (RespClient client = new RespClient(one.server.respPort())) {
      WeirGrpc.WeirBlockingStub stub = WeirGrpc.newBlockingStub(channel);
      List<?> taken =
          (List<?>)
              Objects.requireNonNull(client.call("WEIR.ACQUIRE", "test", "1", "exports", "a"));
      assertThat(taken).hasSize(9);
      assertThat(String.valueOf(taken)).startsWith("[1, 2, 1, ").endsWith(", 60000]");
      SeatRequest first = SeatRequest.newBuilder().addSeat(String.valueOf(taken.get(7))).build();
      assertThat(stub.renew(first).getOutcomeList()).containsExactly(SeatOutcome.SEAT_OUTCOME_DONE);
      assertThat(stub.release(first).getOutcomeList())
          .containsExactly(SeatOutcome.SEAT_OUTCOME_DONE);
      assertThat(stub.release(first).getOutcomeList())
          .containsExactly(SeatOutcome.SEAT_OUTCOME_LOST);

      AcquireResponse granted = stub.acquire(request("exports"));
      assertThat(granted.getResult().getAllowed()).isTrue();
      assertThat(granted.getHoldMs()).isEqualTo(60_000);
      assertThat(client.exchange("WEIR.RENEW", granted.getSeat())).isEqualTo("*1|$4|DONE|");
      assertThat(client.exchange("WEIR.RELEASE", granted.getSeat(), granted.getSeat()))
          .isEqualTo("*2|$4|DONE|$4|LOST|");
      assertThat(client.exchange("WEIR.RELEASE", "x"))
          .startsWith("-ERR seat: not in base64 for URLs (expected: the text of a granted seat");
      assertThat(client.exchange("WEIR.RENEW"))
          .startsWith("-ERR wrong number of arguments for 'weir.renew' command");
      assertThat(client.exchange("WEIR.ACQUIRE", "test", "1", "exports"))
          .startsWith("-ERR wrong number of arguments for 'weir.acquire' command");
      assertThatThrownBy(() -> stub.release(SeatRequest.newBuilder().addSeat("x").build()))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    } finally {
      channel.shutdownNow();
    }
  }

  private static AcquireRequest request(String key) {
    return AcquireRequest.newBuilder()
        .setCheck(
            Check.newBuilder()
                .setDomain("test")
                .addDescriptors(
                    Descriptor.newBuilder()
                        .addEntries(Entry.newBuilder().setKey(key).setValue("a"))))
        .build();
  }

  /** The seat is renewed for longer than its hold, and free as soon as the client has left. */
  @Test
  void seatOfAStream_isHeldUntilTheClientEndsIt() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", one.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      WeirGrpc.WeirBlockingStub stub = WeirGrpc.newBlockingStub(channel);
      Context.CancellableContext context = Context.current().withCancellation();
      Iterator<AcquireResponse> stream = context.call(() -> stub.seat(request("short")));
      assertThat(stream.next().getResult().getAllowed()).isTrue();
      Iterator<AcquireResponse> refused = stub.seat(request("short"));
      assertThat(refused.next().getResult().getAllowed()).isFalse();
      assertThat(refused.hasNext()).isFalse();
      until("weir_seats_renewed_total 4.0");
      assertThat(two.post("/v1/acquire", check("short")).statusCode()).isEqualTo(429);
      context.cancel(null);
      until("weir_seats_released_total 1.0");
    } finally {
      channel.shutdownNow();
    }
  }

  /** A client renews its seat for longer than the hold, also while one of the servers is away. */
  @Test
  void seatOfTheClient_isRenewedAtWhicheverServerAnswers() throws Exception {
    String[] both = {"127.0.0.1:" + one.server.grpcPort(), "127.0.0.1:" + two.server.grpcPort()};
    try (WeirClient client = WeirClient.builder(both).deadline(Duration.ofSeconds(30)).build()) {
      Request request = Request.of("test", "short", "a");
      ClientSeat seat = client.acquire(request).get(1, TimeUnit.MINUTES);
      assertThat(seat.granted() && seat.isHeld()).isTrue();
      ClientSeat refused = client.acquire(request).get(1, TimeUnit.MINUTES);
      assertThat(refused.granted() || refused.isHeld()).isFalse();
      until("weir_seats_renewed_total 4.0");
      assertThat(two.post("/v1/acquire", check("short")).statusCode()).isEqualTo(429);
      assertThat(seat.isHeld()).isTrue();
      one.close();
      assertThat(seat.release().get(1, TimeUnit.MINUTES)).isTrue();
      assertThat(seat.release().get(1, TimeUnit.MINUTES)).isFalse();
      assertThat(two.post("/v1/acquire", check("short")).statusCode()).isEqualTo(200);
    }
    one = server();
  }

  /** Waits until the first server shows a figure. */
  private void until(String figure) throws Exception {
    long end = System.nanoTime() + 60_000_000_000L;
    while (!one.get("/metrics").body().contains(figure)) {
      assertThat(System.nanoTime()).as(figure).isLessThan(end);
      Object unused =
          new CompletableFuture<>().completeOnTimeout(1, 5, TimeUnit.MILLISECONDS).get();
    }
  }

  @Test
  void seatOfAServerThatIsStartedAgain_isStillHeld() throws Exception {
    String seat = acquire(one, "exports");
    one.close();
    one = server();
    assertThat(call(one, "/v1/renew", '"' + seat + '"')).isEqualTo("{\"outcomes\":[\"DONE\"]}");
    assertThat(call(two, "/v1/release", '"' + seat + '"')).isEqualTo("{\"outcomes\":[\"DONE\"]}");
  }
}
