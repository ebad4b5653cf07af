package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of calls that wait in the queue of their rule. */
class QueueTest {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: method
          rate_limit:
            name: calls
            window: 3s
            requests_per_unit: 3
            on_limit: {queue: {requests: 3, wait: 30s}}
      """;

  private final Tasks tasks = new Tasks();

  private RateLimitServerInterceptor interceptor(Limits limits) {
    return RateLimitServerInterceptor.builder(limits.engine)
        .domain("shop")
        .descriptor("method={method}")
        .executor(tasks)
        .build();
  }

  @Test
  void beyondTheLimit_callsAreServedInTheirOrderWhenTheirTimeHasCome() throws Exception {
    try (Limits limits = new Limits(RULES);
        InProcess server = new InProcess(interceptor(limits))) {
      List<TestCall> calls = new ArrayList<>();
      for (int i = 0; i < 7; i++) {
        calls.add(TestCall.send(server.channel, Shop.ADD));
      }
      calls.subList(0, 3).forEach(TestCall::ok);
      calls.get(6).exhausted();
      assertThat(calls.subList(3, 6)).noneMatch(TestCall::over);

      for (int i = 0; i < 20; i++) {
        limits.ticker.advance(Duration.ofSeconds(1));
        tasks.run();
        // Calls are served in the order in which they came.
        assertThat(calls.get(3).over() || !calls.get(4).over()).isTrue();
        assertThat(calls.get(4).over() || !calls.get(5).over()).isTrue();
      }
      calls.subList(3, 6).forEach(TestCall::ok);
    }
  }

  @Test
  void cancelledInLine_theNextOneTakesItsTurn() throws Exception {
    try (Limits limits = new Limits(RULES);
        InProcess server = new InProcess(interceptor(limits))) {
      for (int i = 0; i < 3; i++) {
        TestCall.send(server.channel, Shop.ADD).ok();
      }
      TestCall gone = TestCall.send(server.channel, Shop.ADD);
      TestCall next = TestCall.send(server.channel, Shop.ADD);
      gone.call.cancel("gone", null);
      limits.ticker.advance(Duration.ofSeconds(10));
      tasks.run();

      next.ok();
    }
  }

  @Test
  void client_waitsInLineBeforeItSends() throws Exception {
    try (Limits limits = new Limits(RULES);
        InProcess server = new InProcess()) {
      Channel patient = server.with(client(limits, Duration.ofSeconds(10)));
      Channel hasty = server.with(client(limits, Duration.ofSeconds(1)));
      for (int i = 0; i < 3; i++) {
        TestCall.send(patient, Shop.ADD).ok();
      }
      TestCall refused = TestCall.send(hasty, Shop.ADD);
      TestCall waiting = TestCall.send(patient, Shop.ADD);
      tasks.run();
      refused.exhausted();
      assertThat(waiting.over()).isFalse();

      limits.ticker.advance(Duration.ofSeconds(3));
      tasks.run();

      waiting.ok();
    }
  }

  private RateLimitClientInterceptor client(Limits limits, Duration maxWait) {
    return RateLimitClientInterceptor.builder(limits.engine)
        .domain("shop")
        .descriptor("method={method}")
        .maxWait(maxWait)
        .ticker(limits.ticker)
        .executor(tasks)
        .build();
  }
}
