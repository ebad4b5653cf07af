package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests of limits at the same time: when a call gives back its seat. */
@Timeout(120)
class SeatTest {
  static final List<MethodDescriptor<String, String>> METHODS = Shop.ALL;

  private static final int MIXED = 400;

  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: method
          rate_limit: {name: calls, concurrency: 2, hold: 30s}
        - key: line
          rate_limit:
            {name: line, concurrency: 1, hold: 30s, on_limit: {queue: {requests: 5, wait: 30s}}}
        - key: codes
          rate_limit: {name: codes, unit: hour, requests_per_unit: 100}
      """;

  private final Limits limits = new Limits(RULES);

  private RateLimitServerInterceptor.Builder builder() {
    return RateLimitServerInterceptor.builder(limits.engine)
        .domain("shop")
        .descriptor("method={method}")
        .ticker(limits.ticker);
  }

  private long free(MethodDescriptor<?, ?> method) {
    return limits.left(method.getFullMethodName());
  }

  private void awaitFree(MethodDescriptor<?, ?> method, long free) {
    while (free(method) != free) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void callIsOpen_holdsItsSeatUntilItIsComplete(MethodDescriptor<String, String> method)
      throws Exception {
    try (InProcess server = new InProcess(builder().build())) {
      for (int i = 0; i < 3; i++) {
        TestCall call = TestCall.start(server.channel, method);
        for (int third = 0; third < 6; third++) {
          limits.ticker.advance(Duration.ofSeconds(10));
        }
        assertThat(free(method)).isEqualTo(1);
        call.sendMessage("a").end().ok();
        assertThat(free(method)).isEqualTo(2);
      }
      assertThat(limits.ticker.scheduled()).as("no renewals are left").isZero();
    }
  }

  @Test
  void twoCallsAreOpen_thirdIsRefused() throws Exception {
    try (InProcess server = new InProcess(builder().build())) {
      TestCall first = TestCall.start(server.channel, Shop.CHAT);
      TestCall second = TestCall.start(server.channel, Shop.CHAT);
      TestCall.send(server.channel, Shop.CHAT).exhausted();
      first.call.cancel("gone", null);
      TestCall.send(server.channel, Shop.CHAT).ok();
      second.sendMessage("a").end().ok();
      assertThat(free(Shop.CHAT)).isEqualTo(2);
    }
  }

  /** The seat is not free while the handler of a cancelled call is still at work. */
  @Test
  void callIsCancelledWhileItsHandlerWorks_seatIsHeldUntilThat() throws Exception {
    Semaphore begun = new Semaphore(0);
    Semaphore work = new Semaphore(0);
    try (NettyServer server = new NettyServer(Map.of(), builder().build())) {
      server.shop.atStart =
          () -> {
            begun.release();
            work.acquireUninterruptibly();
          };
      TestCall call = TestCall.send(server.channel, Shop.ADD);
      begun.acquireUninterruptibly();
      call.call.cancel("gone", null);
      assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
      assertThat(free(Shop.ADD)).isEqualTo(1);
      work.release();
      awaitFree(Shop.ADD, 2);
    }
  }

  @Test
  void startThrows_seatIsGivenBack() throws Exception {
    ServerInterceptor broken =
        new ServerInterceptor() {
          @Override
          public <A, B> ServerCall.Listener<A> interceptCall(
              ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
            throw new IllegalStateException("thrown by the test");
          }
        };
    try (InProcess server = new InProcess(builder().build(), broken)) {
      for (int i = 0; i < 3; i++) {
        assertThat(TestCall.send(server.channel, Shop.ADD).code()).isEqualTo(Status.Code.UNKNOWN);
        assertThat(free(Shop.ADD)).isEqualTo(2);
      }
    }
  }

  @Test
  void callWaitsForASeat_getsTheOneThatIsGivenBack() throws Exception {
    Tasks tasks = new Tasks();
    RateLimitServerInterceptor line =
        RateLimitServerInterceptor.builder(limits.engine)
            .domain("shop")
            .descriptor("line={method}")
            .executor(tasks)
            .ticker(limits.ticker)
            .build();
    try (InProcess server = new InProcess(line)) {
      TestCall first = TestCall.start(server.channel, Shop.CHAT);
      TestCall second = TestCall.send(server.channel, Shop.CHAT);
      TestCall third = TestCall.send(server.channel, Shop.CHAT);
      limits.ticker.advance(Duration.ofSeconds(1));
      tasks.run();
      assertThat(second.over() || third.over()).isFalse();
      first.sendMessage("a").end().ok();
      for (int i = 0; i < 2; i++) {
        limits.ticker.advance(Duration.ofMillis(100));
        tasks.run();
      }
      second.ok();
      third.ok();
      TestCall.send(server.channel, Shop.CHAT).ok();
    }
  }

  @Test
  void codeDoesNotCount_permitsComeBackAtTheEnd() throws Exception {
    RateLimitServerInterceptor some =
        builder().descriptor("codes=all").refundUnless(Status.Code.UNAUTHENTICATED).build();
    try (InProcess server = new InProcess(some)) {
      TestCall.send(server.channel, Shop.ADD).ok();
      server.shop.end = Status.UNAUTHENTICATED;
      assertThat(TestCall.send(server.channel, Shop.ADD).code())
          .isEqualTo(Status.Code.UNAUTHENTICATED);
      assertThat(free(Shop.ADD)).isEqualTo(2);
      limits.ticker.advance(Duration.ofSeconds(1));
      assertThat(codesLeft()).isEqualTo(99);
    }
  }

  private long codesLeft() {
    long[] left = new long[1];
    limits.engine.peek(
        dev.weir.rules.Request.of("shop", "codes", "all"),
        answer -> left[0] = answer.statuses().get(0).limitRemaining());
    return left[0];
  }

  @Test
  void callNeverEnds_longestGivesTheSeatBack() throws Exception {
    RateLimitServerInterceptor interceptor = builder().longestSeat(Duration.ofSeconds(20)).build();
    try (InProcess server = new InProcess(interceptor)) {
      TestCall call = TestCall.start(server.channel, Shop.CHAT);
      limits.ticker.advance(Duration.ofSeconds(10));
      assertThat(free(Shop.CHAT)).isEqualTo(1);
      limits.ticker.advance(Duration.ofSeconds(10));
      assertThat(free(Shop.CHAT)).isEqualTo(2);
      assertThat(interceptor.seats().leaked()).isEqualTo(1);
      call.sendMessage("a").end().ok();
      assertThat(free(Shop.CHAT)).isEqualTo(2);
    }
    assertThatThrownBy(() -> builder().longestSeat(Duration.ZERO))
        .hasMessage("longestSeat: PT0S (expected: 1 second to 366 days)");
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void clientsCall_holdsItsSeatUntilItIsClosed(MethodDescriptor<String, String> method)
      throws Exception {
    RateLimitClientInterceptor client = client().build();
    try (InProcess server = new InProcess()) {
      Channel limited = server.with(client);
      for (int i = 0; i < 3; i++) {
        TestCall call = TestCall.start(limited, method);
        for (int third = 0; third < 6; third++) {
          limits.ticker.advance(Duration.ofSeconds(10));
        }
        assertThat(free(method)).isEqualTo(1);
        call.sendMessage("a").end().ok();
        assertThat(free(method)).isEqualTo(2);
        TestCall cancelled = TestCall.start(limited, method);
        cancelled.call.cancel("gone", null);
        assertThat(cancelled.code()).isEqualTo(Status.Code.CANCELLED);
        assertThat(free(method)).isEqualTo(2);
        server.shop.end = Status.INTERNAL;
        assertThat(TestCall.send(limited, method).code()).isEqualTo(Status.Code.INTERNAL);
        assertThat(free(method)).isEqualTo(2);
        server.shop.end = Status.OK;
      }
      TestCall first = TestCall.start(limited, method);
      TestCall second = TestCall.start(limited, method);
      assertThat(TestCall.start(limited, method).code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      first.sendMessage("a").end().ok();
      second.sendMessage("a").end().ok();
    }
    assertThat(free(method)).isEqualTo(2);
    assertThat(limits.ticker.scheduled()).as("no renewals are left").isZero();
  }

  @Test
  void clientsCallCannotStart_seatIsGivenBack() throws Exception {
    try (InProcess server = new InProcess()) {
      server.channel.shutdownNow();
      assertThat(TestCall.start(server.with(client().build()), Shop.ADD).code())
          .isEqualTo(Status.Code.UNAVAILABLE);
    }
    assertThat(free(Shop.ADD)).isEqualTo(2);
  }

  private RateLimitClientInterceptor.Builder client() {
    return RateLimitClientInterceptor.builder(limits.engine)
        .domain("shop")
        .descriptor("method={method}")
        .executor(Runnable::run)
        .ticker(limits.ticker);
  }

  @Test
  void mixedEndings_leaveNoSeatBehind() throws Exception {
    RateLimitServerInterceptor interceptor = builder().build();
    try (NettyServer server = new NettyServer(Map.of(), interceptor)) {
      List<TestCall> calls = new ArrayList<>();
      for (int i = 0; i < MIXED; i++) {
        MethodDescriptor<String, String> method = Shop.ALL.get(i % Shop.ALL.size());
        server.shop.end = i % 7 == 3 ? Status.INTERNAL : Status.OK;
        server.shop.atStart =
            i % 11 == 5
                ? () -> {
                  throw new IllegalStateException("thrown by the test");
                }
                : () -> {};
        TestCall call = start(server.channel, method, i);
        calls.add(call);
        if (i % 4 == 3) {
          calls.forEach(TestCall::status);
          calls.clear();
        }
      }
      Shop.ALL.forEach(method -> awaitFree(method, 2));
      assertThat(interceptor.seats().leaked()).isZero();
    }
  }

  private static TestCall start(Channel channel, MethodDescriptor<String, String> method, int i) {
    CallOptions options =
        i % 9 == 8
            ? CallOptions.DEFAULT.withDeadlineAfter(Duration.ofMillis(20))
            : CallOptions.DEFAULT;
    TestCall call = TestCall.start(channel, method, options, new Metadata());
    call.sendMessage("a");
    if (i % 9 != 8) {
      call.end();
    }
    if (i % 5 == 4) {
      call.call.cancel("gone", null);
    }
    return call;
  }
}
