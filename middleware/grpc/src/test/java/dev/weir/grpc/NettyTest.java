package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.ForwardingDecider;
import dev.weir.rules.Request;
import dev.weir.testkit.WindowChecker;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests over a real connection, with real threads and in real time. */
class NettyTest {
  static final List<MethodDescriptor<String, String>> METHODS = Shop.ALL;

  /** A service config with which gRPC itself retries refused calls once. */
  private static final Map<String, ?> RETRIES =
      Map.of(
          "methodConfig",
          List.of(
              Map.of(
                  "name",
                  List.of(Map.of()),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts",
                      2.0,
                      "initialBackoff",
                      "0.001s",
                      "maxBackoff",
                      "0.001s",
                      "backoffMultiplier",
                      1.0,
                      "retryableStatusCodes",
                      List.of("RESOURCE_EXHAUSTED")))));

  private final Engine engine =
      Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS);
  private final ExecutorService others = Executors.newFixedThreadPool(4);

  private void limit(int requests, String window) {
    Limits.apply(
        engine,
        """
        domain: shop
        descriptors:
          - key: peer
            rate_limit: {name: peers, window: %s, requests_per_unit: %d}
        """
            .formatted(window, requests));
  }

  private long left() {
    AtomicReference<@Nullable Answer> answer = new AtomicReference<>();
    engine.peek(Request.of("shop", "peer", "127.0.0.1"), answer::set);
    return Objects.requireNonNull(answer.get()).statuses().get(0).limitRemaining();
  }

  private static ServerInterceptor byPeer(Decider decider) {
    return RateLimitServerInterceptor.builder(decider)
        .domain("shop")
        .descriptor("peer={ip}")
        .build();
  }

  @AfterEach
  void close() throws InterruptedException {
    others.shutdownNow();
    assertThat(others.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    engine.close();
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void callsOfEveryType_areLimitedByPeer(MethodDescriptor<String, String> method) throws Exception {
    limit(1, "1h");
    try (NettyServer server = new NettyServer(Map.of(), byPeer(new Elsewhere()))) {
      TestCall admitted = TestCall.send(server.channel, method).ok();
      assertThat(admitted.messages).containsExactly("a");
      assertThat(left()).isZero();

      TestCall refused = TestCall.send(server.channel, method).exhausted();

      assertThat(refused.status().getDescription())
          .startsWith("Policy peers allows 1 request per 3600 s. Retry in ");
    }
  }

  @Test
  void stockRetries_waitForThePushback() throws Exception {
    limit(1, "300ms");
    CountingInterceptor tries = new CountingInterceptor();
    try (NettyServer server = new NettyServer(RETRIES, byPeer(engine), tries)) {
      long begun = System.nanoTime();
      int calls = 0;
      // A call that comes 300 ms after the last one, because the machine stood still, is not
      // refused.
      do {
        TestCall.send(server.channel, Shop.ADD).ok();
        assertThat(calls * 300_000_000L)
            .as("what the calls after the first must take")
            .isLessThanOrEqualTo(System.nanoTime() - begun);
        calls++;
      } while (tries.calls() == calls);
      assertThat(calls).isGreaterThan(1);
      assertThat(tries.calls()).isEqualTo(calls + 1);

      limit(0, "300ms");
      TestCall.send(server.channel, Shop.ADD).exhausted();
      assertThat(tries.calls()).as("never fits, so it is not retried").isEqualTo(calls + 2);
    }
  }

  @Test
  void refusalBeyondTheDeadline_isNotRetriedAndReachesTheClient() throws Exception {
    limit(1, "1h");
    CountingInterceptor tries = new CountingInterceptor();
    try (NettyServer server = new NettyServer(RETRIES, byPeer(engine), tries)) {
      TestCall.send(server.channel, Shop.ADD).ok();

      TestCall refused =
          TestCall.start(
                  server.channel,
                  Shop.ADD,
                  // Short beside an hour, and long enough for a busy machine to answer.
                  CallOptions.DEFAULT.withDeadlineAfter(Duration.ofSeconds(20)),
                  new Metadata())
              .sendMessage("a")
              .end()
              .exhausted();

      assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("-1");
      assertThat(Retry.nanos(refused.trailers))
          .as("RetryInfo has the truth")
          .isBetween(Duration.ofMinutes(50).toNanos(), Duration.ofHours(1).toNanos());
      assertThat(tries.calls()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void thousandCalls_noWindowHoldsMoreThanTheLimit(boolean late) throws Exception {
    limit(20, "50ms");
    Queue<WindowChecker.Operation> history = new ConcurrentLinkedQueue<>();
    Ticker time = Ticker.system();
    ExecutorService clients = Executors.newFixedThreadPool(20);
    try (NettyServer server = new NettyServer(Map.of(), byPeer(late ? new Elsewhere() : engine))) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        done.add(
            clients.submit(
                () -> {
                  long start = time.nanos();
                  boolean admitted = admitted(server);
                  history.add(
                      new WindowChecker.Operation(
                          "peer",
                          1,
                          start,
                          time.nanos(),
                          admitted,
                          admitted ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT));
                }));
      }
      for (Future<?> each : done) {
        each.get(60, TimeUnit.SECONDS);
      }
      long admitted = history.stream().filter(WindowChecker.Operation::allowed).count();
      assertThat(WindowChecker.certainExcess(history, 50_000_000L, 20)).isZero();
      assertThat(admitted).isGreaterThanOrEqualTo(20);
      assertThat(server.shop.log.stream().filter("start"::equals).count()).isEqualTo(admitted);
    } finally {
      clients.shutdownNow();
    }
  }

  private static boolean admitted(NettyServer server) {
    try {
      ClientCalls.blockingUnaryCall(server.channel, Shop.ADD, CallOptions.DEFAULT, "a");
      return true;
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      return false;
    }
  }

  @Test
  void cancelledAtAnyTime_onlyWhatHasStartedIsCharged() throws Exception {
    limit(10_000, "1h");
    List<TestCall> calls = new ArrayList<>();
    NettyServer server = new NettyServer(Map.of(), byPeer(new Elsewhere()));
    try (server) {
      for (int i = 0; i < 500; i++) {
        TestCall call = TestCall.send(server.channel, Shop.ADD);
        if (i % 2 == 0) {
          call.call.cancel("gone", null);
        }
        calls.add(call);
      }
      for (TestCall call : calls) {
        assertThat(call.code()).isIn(Status.Code.OK, Status.Code.CANCELLED);
      }
    }
    others.shutdown();
    assertThat(others.awaitTermination(30, TimeUnit.SECONDS)).isTrue();

    long started = server.shop.log.stream().filter("start"::equals).count();
    assertThat(started).isGreaterThanOrEqualTo(250);
    assertThat(10_000 - left()).isEqualTo(started);
  }

  @Test
  void deadlinePassesBeforeTheAnswer_isGivenBackAndNeverStarts() throws Exception {
    ByHand decider = new ByHand();
    CountDownLatch cancelled = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    ServerInterceptor watching =
        new ServerInterceptor() {
          @Override
          public <A, B> ServerCall.Listener<A> interceptCall(
              ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
            ServerCall.Listener<A> listener =
                Contexts.interceptCall(Context.current(), call, headers, next);
            asked.countDown();
            return new io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener<>(
                listener) {
              @Override
              public void onCancel() {
                super.onCancel();
                cancelled.countDown();
              }
            };
          }
        };
    try (NettyServer server = new NettyServer(Map.of(), byPeer(decider), watching)) {
      TestCall call =
          TestCall.start(
              server.channel,
              Shop.ADD,
              // Long enough to reach the server on a busy machine, first connection included.
              CallOptions.DEFAULT.withDeadlineAfter(Duration.ofSeconds(4)),
              new Metadata());
      // Without a message Netty would not send the headers of a unary call.
      call.sendMessage("a").end();
      assertThat(call.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
      assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(cancelled.await(30, TimeUnit.SECONDS)).isTrue();

      decider.answer(ByHand.ADMITTED);

      assertThat(decider.refunds).isEqualTo(1);
      assertThat(server.shop.log).isEmpty();
    }
  }

  /** The engine, with its answers on other threads. */
  private final class Elsewhere extends ForwardingDecider {
    Elsewhere() {
      super(engine);
    }

    @Override
    public void decide(Request request, Consumer<? super Answer> done) {
      others.execute(() -> super.decide(request, done));
    }
  }
}
