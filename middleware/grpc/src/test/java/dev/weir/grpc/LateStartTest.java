package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.Decider;
import dev.weir.testkit.LateStore;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests of calls that a server decides later, or that wait in a queue. */
class LateStartTest {
  static final List<MethodDescriptor<String, String>> METHODS = Shop.ALL;

  private final Tasks tasks = new Tasks();
  private final ByHand decider = new ByHand();

  private RateLimitServerInterceptor.Builder builder(Decider by) {
    return RateLimitServerInterceptor.builder(by)
        .domain("shop")
        .descriptor("method={method}")
        .executor(tasks);
  }

  private InProcess server() throws Exception {
    return new InProcess(builder(decider).build());
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void storeAnswersLate_callStartsThenAndHearsAllInOrder(MethodDescriptor<String, String> method)
      throws Exception {
    LateStore store = new LateStore();
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE, store);
        InProcess server = new InProcess(builder(limits.engine).build())) {
      TestCall call = TestCall.send(server.channel, method);
      assertThat(server.shop.log).isEmpty();

      assertThat(store.answer()).isEqualTo(1);
      assertThat(server.shop.log).as("on the store's thread").isEmpty();

      tasks.run();
      call.ok();
      assertThat(call.messages).containsExactly("a");
      assertThat(server.shop.log)
          .filteredOn(event -> !event.equals("ready"))
          .containsExactly("start", "message a", "half-close", "complete");
    }
  }

  @Test
  void storeRefusesLate_callNeverStarts() throws Exception {
    LateStore store = new LateStore();
    try (Limits limits = new Limits(Limits.TWO_A_MINUTE.replace("unit: 2", "unit: 1"), store);
        InProcess server = new InProcess(builder(limits.engine).build())) {
      TestCall first = TestCall.send(server.channel, Shop.CHAT);
      store.answer();
      TestCall second = TestCall.send(server.channel, Shop.CHAT);
      store.answer();
      tasks.run();

      first.ok();
      second.exhausted();
      assertThat(server.shop.log).filteredOn(event -> event.equals("start")).hasSize(1);
    }
  }

  @Test
  void started_laterEventsComeOnTheirOwn() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.start(server.channel, Shop.CHAT);
      decider.answer(ByHand.ADMITTED);
      tasks.run();

      call.sendMessage("a").sendMessage("b").end().ok();

      assertThat(tasks.due()).isZero();
      assertThat(call.messages).containsExactly("ab");
    }
  }

  @Test
  void cancelledBeforeTheAnswer_neverStartsAndIsGivenBack() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.start(server.channel, Shop.ADD);
      call.call.cancel("gone", null);
      decider.answer(ByHand.ADMITTED);
      tasks.run();

      assertThat(server.shop.log).isEmpty();
      assertThat(decider.refunds).isEqualTo(1);
    }
  }

  @Test
  void cancelledBetweenAnswerAndStart_neverStartsAndIsGivenBack() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.start(server.channel, Shop.ADD);
      decider.answer(ByHand.ADMITTED);
      call.call.cancel("gone", null);
      tasks.run();

      assertThat(server.shop.log).isEmpty();
      assertThat(decider.refunds).isEqualTo(1);
    }
  }

  @Test
  void cancelledAfterItsStart_theApplicationHearsIt() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.start(server.channel, Shop.CHAT);
      decider.answer(ByHand.ADMITTED);
      server.shop.atStart = () -> call.call.cancel("gone", null);
      tasks.run();

      assertThat(server.shop.log).startsWith("start").endsWith("cancel");
      assertThat(decider.refunds).isZero();
    }
  }

  @Test
  void refusedCall_waitsInLineAndIsServed() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.send(server.channel, Shop.ADD);
      decider.answer(ByHand.MAY_WAIT);
      assertThat(decider.waiting()).isEqualTo(1);
      assertThat(decider.maxWaitNanos).isEqualTo(10_000_000_000L);
      assertThat(call.over()).isFalse();

      decider.serve(ByHand.ADMITTED);
      tasks.run();

      call.ok();
    }
  }

  @Test
  void refusedAfterTheWait_isToldSo() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.send(server.channel, Shop.ADD);
      decider.answer(ByHand.MAY_WAIT);
      decider.serve(ByHand.MAY_WAIT);
      tasks.run();

      call.exhausted();
      assertThat(call.trailers.get(Retry.PUSHBACK)).isEqualTo("1500");
    }
  }

  @Test
  void cancelledInLine_leavesIt() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.start(server.channel, Shop.ADD);
      decider.answer(ByHand.MAY_WAIT);
      call.call.cancel("gone", null);

      assertThat(decider.leaves).isEqualTo(1);
      assertThat(decider.waiting()).isZero();
      tasks.run();
      assertThat(server.shop.log).isEmpty();
    }
  }

  @Test
  void wait_isBoundedByTheDeadline() throws Exception {
    try (InProcess server = server()) {
      TestCall call =
          TestCall.start(
              server.channel,
              Shop.ADD,
              CallOptions.DEFAULT.withDeadlineAfter(Duration.ofMinutes(1)),
              new Metadata());
      decider.answer(ByHand.MAY_WAIT);

      assertThat(decider.maxWaitNanos).isBetween(1L, 60_000_000_000L);
      call.call.cancel("enough", null);
    }
  }

  @Test
  void wait_isBoundedByTheBuilder() throws Exception {
    try (InProcess bounded =
            new InProcess(builder(decider).maxWait(Duration.ofSeconds(2)).build());
        InProcess none = new InProcess(builder(decider).maxWait(Duration.ZERO).build())) {
      TestCall.send(bounded.channel, Shop.ADD);
      decider.answer(ByHand.MAY_WAIT);
      assertThat(decider.maxWaitNanos).isEqualTo(2_000_000_000L);

      TestCall call = TestCall.send(none.channel, Shop.ADD);
      decider.answer(ByHand.MAY_WAIT);
      tasks.run();
      call.exhausted();
    }
  }

  @Test
  void executorHasEnded_callEndsAndIsGivenBack() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.send(server.channel, Shop.ADD);
      tasks.ended = true;
      decider.answer(ByHand.ADMITTED);

      assertThat(call.code()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(decider.refunds).isEqualTo(1);
    }
  }

  @Test
  void applicationFailsAtItsStart_callEnds() throws Exception {
    try (InProcess server = server()) {
      TestCall call = TestCall.send(server.channel, Shop.ADD);
      server.shop.atStart =
          () -> {
            throw Status.NOT_FOUND.withDescription("no cart").asRuntimeException();
          };
      decider.answer(ByHand.ADMITTED);

      assertThatThrownBy(tasks::run).hasMessageContaining("no cart");
      assertThat(call.code()).isEqualTo(Status.Code.NOT_FOUND);
      assertThat(call.status().getDescription()).isEqualTo("no cart");
    }
  }

  @Test
  void contextOfTheCall_isThereWhenItStarts() throws Exception {
    try (InProcess server = server()) {
      TestCall call =
          TestCall.start(
              server.channel,
              Shop.ADD,
              CallOptions.DEFAULT.withDeadlineAfter(Duration.ofHours(1)),
              new Metadata());
      server.shop.atStart = () -> assertThat(io.grpc.Context.current().getDeadline()).isNotNull();
      decider.answer(ByHand.ADMITTED);
      tasks.run();

      call.sendMessage("a").end().ok();
    }
  }
}
