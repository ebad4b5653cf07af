package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.Answer;
import dev.weir.identity.MissingValue;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests of a client's calls that a decider admits, at once or later. */
class AskingCallTest {
  static final List<MethodDescriptor<String, String>> METHODS = Shop.ALL;

  private final FakeTicker time = new FakeTicker();
  private final Tasks tasks = new Tasks();
  private final ByHand decider = new ByHand();
  private InProcess server;
  private Channel channel;

  @BeforeEach
  void start() throws Exception {
    server = new InProcess();
    channel = server.with(interceptor().build());
  }

  @AfterEach
  void close() {
    server.close();
  }

  private RateLimitClientInterceptor.Builder interceptor() {
    return RateLimitClientInterceptor.builder(decider)
        .domain("shop")
        .descriptor("method={method}")
        .maxWait(Duration.ofSeconds(5))
        .ticker(time)
        .executor(tasks);
  }

  private static CallOptions within(Limits limits, long millis) {
    return CallOptions.DEFAULT.withDeadline(limits.deadline(millis));
  }

  @Test
  void deciderInThisProcess_refusesBeforeAnythingIsSent() {
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE)) {
      Channel limited =
          server.with(
              RateLimitClientInterceptor.builder(limits.engine)
                  .domain("shop")
                  .descriptor("method={method}")
                  .executor(tasks)
                  .build());
      TestCall.send(limited, Shop.ADD).ok();
      TestCall.send(limited, Shop.ADD).ok();
      server.shop.log.clear();

      TestCall refused = TestCall.send(limited, Shop.ADD);

      assertThat(refused.over()).as("within start()").isFalse();
      tasks.run();
      refused.exhausted();
      assertThat(refused.status().getDescription())
          .isEqualTo("Policy calls allows 2 requests per 60 s. Retry in 60 s.");
      assertThat(refused.trailers.get(Retry.PUSHBACK)).isNotNull();
      assertThat(server.shop.log).isEmpty();
    }
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void answerComesLate_callIsSentThenWithAllThatWasHeldBack(
      MethodDescriptor<String, String> method) {
    TestCall call = TestCall.send(channel, method);
    decider.answer(ByHand.ADMITTED);
    assertThat(server.shop.log).as("on the store's thread").isEmpty();

    tasks.run();

    call.ok();
    assertThat(call.messages).containsExactly("a");
  }

  @Test
  void blockingStub_waitsForALateAnswer() {
    Channel admitting = server.with(late(ByHand.ADMITTED));
    Channel refusing = server.with(late(ByHand.MAY_WAIT));

    assertThat(ClientCalls.blockingUnaryCall(admitting, Shop.ADD, CallOptions.DEFAULT, "a"))
        .isEqualTo("a");
    assertThatThrownBy(
            () -> ClientCalls.blockingUnaryCall(refusing, Shop.ADD, CallOptions.DEFAULT, "a"))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageStartingWith("RESOURCE_EXHAUSTED: Policy calls allows 2 requests per 60 s.");
  }

  @Test
  void callSentAfterTheServersRefusal_endsIt_butNotOneSentBefore() {
    RateLimitClientInterceptor limits = interceptor().build();
    Channel both = server.with(limits);
    TestCall before = TestCall.start(both, Shop.ADD);
    decider.answer(ByHand.ADMITTED);
    tasks.run();
    TestCall after = TestCall.send(both, Shop.ADD);
    time.advance(1);
    refuse(limits);

    before.sendMessage("a").end().ok();
    assertThat(limits.refusals.size()).as("overtaken").isOne();
    decider.answer(ByHand.ADMITTED);
    tasks.run();
    after.ok();
    assertThat(limits.refusals.size()).isZero();
  }

  /** Records a refusal of the server for calls of {@link Shop#ADD}. */
  private void refuse(RateLimitClientInterceptor limits) {
    long key =
        limits.keys.key(
            server.channel.authority(),
            Shop.ADD.getFullMethodName(),
            List.of(Descriptor.of("method", Shop.ADD.getFullMethodName())));
    limits.refusals.add(key, Status.Code.RESOURCE_EXHAUSTED.value(), 1_000_000_000L);
  }

  /** Returns an interceptor whose decider answers on another thread. */
  private RateLimitClientInterceptor late(Answer answer) {
    ByHand later =
        new ByHand() {
          @Override
          public void decide(Request request, Consumer<? super Answer> done) {
            ForkJoinPool.commonPool().execute(() -> done.accept(answer));
          }
        };
    return RateLimitClientInterceptor.builder(later)
        .domain("shop")
        .descriptor("method={method}")
        .build();
  }

  @Test
  void refused_waitsInLineForAsLongAsTheBuilderSays() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    decider.answer(ByHand.MAY_WAIT);
    assertThat(decider.maxWaitNanos).isEqualTo(5_000_000_000L);

    decider.serve(ByHand.ADMITTED);
    tasks.run();

    call.ok();
  }

  @Test
  void cancelledBeforeTheAnswer_isNotSentAndGivenBack() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    call.call.cancel("changed my mind", null);
    decider.answer(ByHand.ADMITTED);
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(decider.refunds).isEqualTo(1);
    assertThat(server.shop.log).isEmpty();
  }

  @Test
  void cancelledBetweenAnswerAndSending_isNotSentAndGivenBack() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    decider.answer(ByHand.ADMITTED);
    call.call.cancel("changed my mind", null);
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(decider.refunds).isEqualTo(1);
    assertThat(server.shop.log).isEmpty();
  }

  @Test
  void cancelledInLine_leavesIt() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    decider.answer(ByHand.MAY_WAIT);
    call.call.cancel("changed my mind", null);
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(decider.leaves).isEqualTo(1);
  }

  @Test
  void cancelledAfterSending_theServerHearsIt() {
    TestCall call = TestCall.start(channel, Shop.CHAT);
    decider.answer(ByHand.ADMITTED);
    tasks.run();
    call.call.cancel("changed my mind", null);

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(server.shop.log).endsWith("cancel");
    assertThat(decider.refunds).isZero();
  }

  @Test
  void contextIsCancelled_callEndsAndIsGivenBack() throws Exception {
    Context.CancellableContext context = Context.current().withCancellation();
    TestCall call = context.call(() -> TestCall.send(channel, Shop.ADD));
    context.cancel(new IllegalStateException("user left"));
    decider.answer(ByHand.ADMITTED);
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(decider.refunds).isEqualTo(1);
  }

  @Test
  void deadlinePassesBeforeTheAnswer_callEndsAndIsGivenBack() {
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE)) {
      channel = server.with(interceptor().ticker(limits.ticker).build());
      TestCall call = TestCall.start(channel, Shop.ADD, within(limits, 1500), new Metadata());
      limits.ticker.advance(Duration.ofMillis(1400));
      tasks.run();
      assertThat(call.over()).isFalse();

      limits.ticker.advance(Duration.ofMillis(100));
      tasks.run();

      assertThat(call.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
      decider.answer(ByHand.ADMITTED);
      assertThat(decider.refunds).isEqualTo(1);
    }
  }

  /** A deadline may be hours away, and the call with its messages must not stay until then. */
  @Test
  void callThatIsSentOrOver_leavesNoTimer() {
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE)) {
      channel = server.with(interceptor().ticker(limits.ticker).build());
      TestCall sent = TestCall.start(channel, Shop.ADD, within(limits, 3_600_000), new Metadata());
      assertThat(limits.ticker.scheduled()).isEqualTo(1);
      decider.answer(ByHand.ADMITTED);
      tasks.run();
      assertThat(limits.ticker.scheduled()).isZero();
      sent.call.cancel("enough", null);

      TestCall over = TestCall.start(channel, Shop.ADD, within(limits, 3_600_000), new Metadata());
      over.call.cancel("changed my mind", null);
      tasks.run();
      assertThat(limits.ticker.scheduled()).isZero();
    }
  }

  @Test
  void deadlinePassedAlready_isGivenBack() {
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE)) {
      channel = server.with(interceptor().ticker(limits.ticker).build());
      TestCall call = TestCall.start(channel, Shop.ADD, within(limits, 0), new Metadata());
      tasks.run();

      assertThat(call.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
      assertThat(server.shop.log).isEmpty();
    }
  }

  @Test
  void missingValue_isRefusedWhereTheBuilderSaysSo() {
    channel =
        server.with(
            interceptor()
                .descriptor("tenant={header:tenant}")
                .missing(MissingValue.REFUSE)
                .build());
    TestCall call = TestCall.send(channel, Shop.ADD);
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(decider.asks).isZero();
  }

  @Test
  void deciderFails_saysInternal() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    decider.answer(Answer.of(false, List.of(), "domain: empty", 1));
    tasks.run();

    assertThat(call.code()).isEqualTo(Status.Code.INTERNAL);
  }

  @Test
  void executorHasEnded_callEndsAllTheSame() {
    TestCall call = TestCall.send(channel, Shop.ADD);
    tasks.ended = true;
    decider.answer(ByHand.ADMITTED);

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(decider.refunds).isEqualTo(1);
  }

  @Test
  void cancelledBeforeItsStart_cannotBeStarted() {
    ClientCall<String, String> call = channel.newCall(Shop.ADD, CallOptions.DEFAULT);
    call.cancel("never mind", null);

    assertThatThrownBy(() -> call.start(new ClientCall.Listener<>() {}, new Metadata()))
        .isInstanceOf(IllegalStateException.class);
    assertThat(decider.asks).isZero();
  }
}
