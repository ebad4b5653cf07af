package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.ForwardingDecider;
import dev.weir.engine.Ticket;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of the permits after the verdict. */
class VerdictSettlingTest {
  private static final long SECOND = 1_000_000_000L;

  private final LimitedEngine limits = new LimitedEngine();

  /** A decider that counts the refunds. */
  private static final class CountedRefunds extends ForwardingDecider {
    private final AtomicInteger refunds = new AtomicInteger();

    CountedRefunds(Decider decider) {
      super(decider);
    }

    @Override
    public void refund(Request request, Answer answer, LongConsumer done) {
      refunds.incrementAndGet();
      super.refund(request, answer, done);
    }
  }

  private static Verdict decide(RequestLimiter limiter) {
    return LimitedEngine.decide(limiter, TestView.get("/"));
  }

  @Test
  void manyThreads_giveBackOnce() throws Exception {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter = RequestLimiter.builder(decider).refundUnless(401).build();
    for (int round = 1; round <= 100; round++) {
      Verdict verdict = decide(limiter);
      assertThat(verdict.passes()).isTrue();
      CyclicBarrier start = new CyclicBarrier(4);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int own = i;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    start.await();
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                  if (own % 2 == 0) {
                    verdict.responded(200);
                  } else {
                    verdict.abandoned();
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(decider.refunds).hasValue(round);
    }
    assertThat(decide(limiter).passes()).isTrue();
  }

  @Test
  void statusThatCounts_settlesTheRequest() {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter = RequestLimiter.builder(decider).refundUnless(401, 403).build();
    Verdict verdict = decide(limiter);
    assertThat(verdict.awaitsStatus()).isTrue();
    verdict.responded(401);
    verdict.responded(200);
    verdict.abandoned();
    assertThat(decider.refunds).hasValue(0);
  }

  /** The price of a limit on failures that is never exceeded, as the documentation states it. */
  @Test
  void attemptsUnderWay_countUntilTheirOutcomeIsKnown() {
    RequestLimiter limiter = RequestLimiter.builder(limits.engine).refundUnless(401).build();
    List<Verdict> atOnce = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      atOnce.add(decide(limiter));
    }
    assertThat(atOnce.stream().filter(Verdict::passes)).hasSize(2);
    assertThat(atOnce.get(4).status()).isEqualTo(429);
    atOnce.stream().filter(Verdict::passes).forEach(verdict -> verdict.responded(200));
    assertThat(decide(limiter).passes()).as("they were right").isTrue();
  }

  @Test
  void predicate_decidesByStatusAndLocation() {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter =
        RequestLimiter.builder(decider)
            .refundUnless(401)
            .refundUnless(outcome -> outcome.redirectsTo("/login?error"))
            .build();
    assertThat(refunds(decider, limiter, 302, "/")).isEqualTo(1);
    assertThat(refunds(decider, limiter, 302, null)).isEqualTo(1);
    assertThat(refunds(decider, limiter, 200, "/login?error")).as("no redirect").isEqualTo(1);
    assertThat(refunds(decider, limiter, 302, "https://shop.example/login?error")).isZero();
    decide(limiter).responded(302, "/");
    assertThat(refunds(decider, limiter, 401, null)).as("a status counts, too").isZero();
    assertThat(decide(limiter).passes()).as("two have counted").isFalse();
  }

  /** Returns the number of refunds of one more request. */
  private static int refunds(
      CountedRefunds decider, RequestLimiter limiter, int status, @Nullable String location) {
    int before = decider.refunds.get();
    decide(limiter).responded(status, location);
    return decider.refunds.get() - before;
  }

  @Test
  void predicateThrows_requestStaysCharged() {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter =
        RequestLimiter.builder(decider)
            .refundUnless(
                outcome -> {
                  throw new IllegalStateException("broken");
                })
            .build();
    Verdict verdict = decide(limiter);
    assertThatThrownBy(() -> verdict.responded(200)).hasMessage("broken");
    verdict.responded(200);
    verdict.abandoned();
    assertThat(decider.refunds).hasValue(0);
  }

  @Test
  void allStatusesCount_onlyTheAbandonedIsGivenBack() {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter = RequestLimiter.builder(decider).build();
    Verdict answered = decide(limiter);
    assertThat(answered.awaitsStatus()).isFalse();
    answered.responded(500);
    answered.abandoned();
    assertThat(decider.refunds).hasValue(0);
    decide(limiter).abandoned();
    assertThat(decider.refunds).hasValue(1);
    assertThat(decide(limiter).passes()).isTrue();
    Verdict refused = decide(limiter);
    assertThat(refused.passes()).isFalse();
    refused.abandoned();
    assertThat(decider.refunds).hasValue(1);
  }

  @Test
  void unlimited_takesEveryCall() {
    RequestLimiter limiter = limits.limiter("ip={ip}").exempt("/").build();
    Verdict verdict = decide(limiter);
    verdict.responded(200);
    verdict.abandoned();
    assertThat(verdict.status()).isEqualTo(200);
    assertThat(verdict.detail()).isEqualTo("OK");
    assertThat(verdict.request()).isNull();
    assertThat(verdict.awaitsStatus()).isFalse();
    List<Verdict> later = new ArrayList<>();
    assertThat(verdict.enqueue(SECOND, later::add)).isSameAs(Ticket.USED);
    assertThat(later).containsExactly(verdict);
  }

  @Test
  void enqueuedAndAdmitted_isRefundedAsItsOwnVerdict() {
    CountedRefunds decider = new CountedRefunds(limits.engine);
    RequestLimiter limiter =
        RequestLimiter.builder(decider).descriptor("turn={ip}").refundUnless(401).build();
    assertThat(decide(limiter).passes()).isTrue();
    Verdict refused = decide(limiter);
    assertThat(refused.passes()).isFalse();
    assertThat(refused.maxWaitNanos()).isEqualTo(10 * SECOND);
    List<Verdict> later = new ArrayList<>();
    Ticket ticket = refused.enqueue(Long.MAX_VALUE, later::add);
    assertThat(later).isEmpty();
    limits.ticker.advance(SECOND);
    assertThat(later).hasSize(1);
    assertThat(ticket.leave()).isFalse();
    Verdict admitted = later.get(0);
    assertThat(admitted.passes()).isTrue();
    assertThat(LimitedEngine.fields(admitted)).doesNotContainKey("Retry-After");
    admitted.responded(200);
    admitted.responded(200);
    refused.abandoned();
    assertThat(decider.refunds).hasValue(1);
    assertThat(decide(limiter).passes()).as("the permit is back").isTrue();
  }

  @Test
  void queueIsFull_verdictStaysTheSame() {
    RequestLimiter limiter = limits.limiter("turn={ip}").build();
    decide(limiter);
    Ticket first = decide(limiter).enqueue(Long.MAX_VALUE, verdict -> {});
    Verdict second = decide(limiter);
    List<Verdict> later = new ArrayList<>();
    second.enqueue(Long.MAX_VALUE, later::add);
    assertThat(later).hasSize(1);
    assertThat(later.get(0).passes()).isFalse();
    assertThat(first.leave()).isTrue();
  }

  @Test
  void passingOrHasty_isNotEnqueued() {
    RequestLimiter limiter = limits.limiter("turn={ip}").build();
    Verdict passing = decide(limiter);
    Verdict refused = decide(limiter);
    List<Verdict> later = new ArrayList<>();
    assertThat(passing.maxWaitNanos()).isZero();
    assertThat(passing.enqueue(SECOND, later::add)).isSameAs(Ticket.USED);
    assertThat(refused.enqueue(0, later::add)).isSameAs(Ticket.USED);
    assertThat(refused.enqueue(Long.MIN_VALUE, later::add)).isSameAs(Ticket.USED);
    assertThat(later).containsExactly(passing, refused, refused);
  }

  @Test
  void maxWait_boundsTheRules() {
    RequestLimiter none = limits.limiter("turn={ip}").maxWait(Duration.ZERO).build();
    decide(none);
    assertThat(decide(none).maxWaitNanos()).isZero();
    RequestLimiter some = limits.limiter("turn={ip}").maxWait(Duration.ofSeconds(3)).build();
    assertThat(decide(some).maxWaitNanos()).isEqualTo(3 * SECOND);
    RequestLimiter ever =
        limits.limiter("turn={ip}").maxWait(Duration.ofSeconds(Long.MAX_VALUE)).build();
    assertThat(decide(ever).maxWaitNanos()).as("the rule's").isEqualTo(10 * SECOND);
  }
}
