package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.shared.internal.AdmittedRecord;
import dev.weir.shared.internal.DecideOne;
import dev.weir.shared.internal.OperationPair;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CallerTest {
  private static final long TIMEOUT_NANOS = 50_000_000L;
  private static final long TICK_NANOS = 5_000_000L;
  private static final long FITS = 0;
  private static final long OVER_LIMIT = 1;
  private static final long UNCERTAIN = 3;

  private final FakeTicker ticker = new FakeTicker();
  private final FakeShard shard = new FakeShard();
  private final Counters counters = new Counters();
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Caller caller = caller(shard, counters);

  private Caller caller(FakeShard asked, Counters counted) {
    return new Caller(asked, Settings.of(TIMEOUT_NANOS, ticker, log::add, warnings::add, counted));
  }

  @BeforeEach
  void theShardAnswersItsProbe() {
    caller.tick();
    shard.probes.get(0).complete(FakeShard.fine());
    assertThat(log).containsExactly("the store answers: decisions are shared");
    log.clear();
  }

  /** Advances time in ticks, and checks waiting operations at each. */
  private void pass(long nanos) {
    for (long passed = 0; passed < nanos; ) {
      long step = Math.min(TICK_NANOS, nanos - passed);
      ticker.advance(step);
      passed += step;
      caller.tick();
    }
  }

  private Answers request(long key, long permits, long count) {
    Answers got = new Answers();
    caller.send(new DecideOne(Bindings.ANY, key, permits, count, got));
    return got;
  }

  private Answers request(long key) {
    return request(key, 1, 1);
  }

  private FakeShard.Sent call(int i) {
    return shard.calls.get(i);
  }

  /** Makes two calls, which are all that may be in flight, so that the next operation waits. */
  private void occupy() {
    request(-1);
    request(-2);
  }

  private static long[] fits(long times, long remaining) {
    return new long[] {times, FITS, remaining, 0, 1_000, 0, 5_000};
  }

  @Test
  void loneQuestion_isSentAtOnce() {
    Answers got = request(1);

    assertThat(shard.calls).hasSize(1);
    assertThat(got.answers).isEmpty();

    call(0).answer(fits(1, 99));

    assertThat(got.result())
        .isEqualTo(new Result(Reason.WITHIN_LIMIT, 99, 0, 1_000_000, 5_000_000));
  }

  @Test
  void whatWaits_sharesTheNextCall_andNoMoreThanTwoAreOnTheirWay() {
    occupy();
    List<Answers> waiting = new ArrayList<>();
    for (int key = 1; key <= 5; key++) {
      waiting.add(request(key));
    }

    assertThat(shard.calls).hasSize(2);
    assertThat(caller.queued()).isEqualTo(5);

    call(0).answer(fits(1, 0));

    assertThat(shard.calls).hasSize(3);
    assertThat(call(2).requests()).hasSize(5);
    assertThat(caller.queued()).isZero();
    assertThat(waiting).allSatisfy(got -> assertThat(got.answers).isEmpty());
  }

  @Test
  void oneCall_hasABoundedNumberOfQuestions() {
    occupy();
    for (int key = 1; key <= 200; key++) {
      request(key);
    }

    call(0).answer(fits(1, 0));

    assertThat(call(2).requests()).hasSize(128);
  }

  @Test
  void samePermitsOfOneKey_areOneRequest_toldAsIfAskedOneAfterTheOther() {
    occupy();
    List<Answers> same =
        List.of(request(7, 10, 1), request(7, 10, 1), request(7, 10, 1), request(7, 10, 1));
    Answers other = request(7, 9, 1);

    call(0).answer(fits(1, 0));

    assertThat(call(2).requests())
        .extracting(FakeCall.Request::permits, FakeCall.Request::count)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(10L, 4L),
            org.assertj.core.groups.Tuple.tuple(9L, 1L));

    // Of 35 permits, ten fit three times, and five are left.
    call(2).answer(3, FITS, 5, 700, 1_000, 0, 5_000, 0, OVER_LIMIT, 5, 600, 1_000, 0, 5_000);

    assertThat(same).extracting(Answers::times).containsExactly(1L, 1L, 1L, 0L);
    assertThat(same).extracting(got -> got.result().remaining()).containsExactly(25L, 15L, 5L, 5L);
    assertThat(same)
        .extracting(got -> got.result().reason())
        .containsExactly(
            Reason.WITHIN_LIMIT, Reason.WITHIN_LIMIT, Reason.WITHIN_LIMIT, Reason.OVER_LIMIT);
    assertThat(same)
        .extracting(got -> got.result().retryAfterNanos())
        .containsExactly(0L, 0L, 0L, 700_000L);
    assertThat(other.result().retryAfterNanos()).isEqualTo(600_000);
    assertThat(counters.merged.sum()).isEqualTo(3);
  }

  @Test
  void someoneWhoAsksForMore_takesHisPartFirst_ifHeCameFirst() {
    occupy();
    Answers many = request(7, 1, 5);
    Answers one = request(7, 1, 1);
    call(0).answer(fits(1, 0));

    call(2).answer(5, FITS, 0, 700, 1_000, 0, 5_000);

    assertThat(many.times()).isEqualTo(5);
    assertThat(many.result().retryAfterNanos()).isZero();
    assertThat(one.times()).isZero();
    assertThat(one.result().reason()).isEqualTo(Reason.OVER_LIMIT);
  }

  @Test
  void askerThatThrows_keepsNothingFromTheOthers() {
    occupy();
    caller.send(
        new DecideOne(
            Bindings.ANY,
            7,
            1,
            1,
            new DecideOne.Callback() {
              @Override
              public void decided(long times, Result result, long remaining) {
                throw new IllegalStateException("mine");
              }

              @Override
              public void failed(Failure failure) {
                throw new IllegalStateException("mine");
              }
            }));
    Answers same = request(7);
    Answers other = request(8);
    call(0).answer(fits(1, 0));

    long[] numbers = {2, FITS, 1, 0, 1_000, 0, 5_000, 1, FITS, 1, 0, 1_000, 0, 5_000};
    call(2).answer(numbers);

    assertThat(same.times()).isEqualTo(1);
    assertThat(other.times()).isEqualTo(1);
    assertThat(log).singleElement().asString().contains("mine");
  }

  @Test
  void deadline_isATimeout_andTheLateAnswerGivesBackExactlyWhatItCharged() {
    Answers got = request(7, 10, 3);
    pass(TIMEOUT_NANOS - 1);
    assertThat(got.answers).isEmpty();

    pass(1);
    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);

    call(0).answer(2, FITS, 5, 700, 1_000, 0, 5_000);

    assertThat(got.answers).hasSize(1);
    assertThat(shard.calls).hasSize(2);
    assertThat(call(1).requests()).containsExactly(new FakeCall.Request("refund", 1, 20, 0, 5_000));
    call(1).answer(20);
    assertThat(counters.late.sum()).isEqualTo(20);
    assertThat(counters.failures().get("timeout")).isEqualTo(1);
    assertThat(counters.burned.sum()).isZero();
  }

  @Test
  void lateAnswersOfOneKey_areGivenBackTogether_theNewestChargeFirst() {
    request(7);
    request(7, 2, 1);
    pass(TIMEOUT_NANOS);
    call(0).answer(1, FITS, 9, 0, 1_000, 0, 5_000);
    assertThat(shard.calls).hasSize(2); // The other one may have a later charge.
    call(1).answer(1, FITS, 7, 0, 2_000, 0, 5_000);
    assertThat(call(2).requests())
        .containsExactly(
            new FakeCall.Request("refund", 1, 2, 0, 5_000),
            new FakeCall.Request("refund", 1, 1, 0, 5_000));
    call(2).answer(2, 0);
    assertThat(counters.late.sum()).isEqualTo(2);
    assertThat(counters.burned.sum()).isEqualTo(1); // The shard did not take it back.
  }

  @Test
  void lateAnswer_isGivenBackAfterATime_ifAnotherNeverComes() {
    request(7);
    request(7, 2, 1);
    pass(TIMEOUT_NANOS);
    call(0).answer(fits(1, 9));
    pass(TIMEOUT_NANOS - 1);
    assertThat(shard.calls).hasSize(2);
    assertThat(caller.idle()).isFalse();
    pass(1);
    assertThat(call(2).requests()).containsExactly(new FakeCall.Request("refund", 1, 1, 0, 5_000));
  }

  /**
   * Any other order would depend on the addresses of objects, and no simulation could be repeated.
   */
  @Test
  void callsThatFailAtOnce_failInTheOrderInWhichTheyWereSent() {
    for (int i = 0; i < 20; i++) {
      FakeShard asked = new FakeShard();
      Caller fresh = caller(asked, new Counters());
      fresh.tick();
      asked.probes.get(0).complete(FakeShard.fine());
      List<Long> failed = new ArrayList<>();
      for (long key = 1; key <= 2; key++) {
        long own = key;
        DecideOne.Callback callback =
            new DecideOne.Callback() {
              @Override
              public void decided(long times, Result result, long remaining) {}

              @Override
              public void failed(Failure failure) {
                failed.add(own);
              }
            };
        fresh.send(new DecideOne(Bindings.ANY, key, 1, 1, callback));
      }
      assertThat(asked.calls).hasSize(2);

      fresh.disconnected();

      assertThat(failed).containsExactly(1L, 2L);
    }
  }

  @Test
  void lateRefusal_givesNothingBack() {
    request(7);
    pass(TIMEOUT_NANOS);

    call(0).answer(0, OVER_LIMIT, 0, 700, 1_000, 0, 5_000);

    assertThat(shard.calls).hasSize(1);
    assertThat(counters.late.sum()).isZero();
  }

  @Test
  void lateAnswers_areGivenBackAlsoWhenTheBreakerHasOpened() {
    for (int i = 0; i < 3; i++) {
      request(i);
      pass(TIMEOUT_NANOS);
    }
    assertThat(caller.available()).isFalse();

    call(0).answer(fits(1, 99));
    pass(TIMEOUT_NANOS); // The other answers do not come.

    assertThat(call(3).requests()).containsExactly(new FakeCall.Request("refund", 1, 1, 0, 5_000));
  }

  @Test
  void whatWaitsForTooLong_isNotSentAnyMore() {
    occupy();
    Answers waiting = request(7);

    pass(TIMEOUT_NANOS);

    assertThat(waiting.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(shard.calls).hasSize(2);
    assertThat(caller.idle()).isTrue();
  }

  @Test
  void failures_burnPermitsUnlessTheyAreHarmless() {
    for (Failure failure : Failure.values()) {
      Counters own = new Counters();
      FakeShard failing = new FakeShard();
      Caller asked = caller(failing, own);
      asked.tick();
      failing.probes.get(0).complete(FakeShard.fine());
      Answers got = new Answers();
      asked.send(new DecideOne(Bindings.ANY, 1, 5, 2, got));

      failing.calls.get(0).fail(failure);

      assertThat(got.failure()).isEqualTo(failure);
      assertThat(own.failures().get(failure.text())).isEqualTo(1);
      assertThat(own.burned.sum()).as(failure.text()).isEqualTo(failure.harmless ? 0 : 10);
    }
  }

  @Test
  void replyThatMakesNoSense_isAFailure() {
    Answers early = request(1);
    call(0).answer(1, FITS);
    Answers strange = request(2);
    call(1).answer();

    assertThat(early.failure()).isEqualTo(Failure.OTHER);
    assertThat(strange.failure()).isEqualTo(Failure.OTHER);
    assertThat(log).hasSize(2).allSatisfy(line -> assertThat(line).contains("makes no sense"));
  }

  @Test
  void stateThatIsNotOurs_isAFailureOfThatKeyAlone() {
    Answers got = request(1);

    call(0).answer(0, UNCERTAIN, 0, 0, 0, 0, 0);

    assertThat(got.failure()).isEqualTo(Failure.STATE);
    assertThat(caller.available()).isTrue();
  }

  @Test
  void stateThatIsNotOurs_isCounted_whoeverAsks() {
    Answers got = request(1, 2, 3);
    call(0).answer(0, UNCERTAIN, 0, 0, 0, 0, 0);
    Answers unrecorded = new Answers();
    caller.send(new AdmittedRecord(Bindings.ANY, 1, 5, result -> {}, unrecorded::failed));
    call(1).answer(UNCERTAIN, 0, 0, 0, 0, 0);
    Answers both = new Answers();
    caller.send(
        new OperationPair(
            new AdmittedRecord(Bindings.ANY, 1, 5, result -> {}, failure -> {}),
            new DecideOne(Bindings.ANY, 1, 1, 1, both)));
    call(2).answer(UNCERTAIN, 0, 0, 0, 0, 0, 0, UNCERTAIN, 0, 0, 0, 0, 0);

    assertThat(List.of(got, unrecorded, both))
        .allSatisfy(each -> assertThat(each.failure()).isEqualTo(Failure.STATE));
    assertThat(counters.failures().get("state")).isEqualTo(1 + 1 + 2);
    assertThat(counters.decided.sum()).isZero();
    assertThat(counters.burned.sum()).isZero();
  }

  @Test
  void clockThatGoesBack_isWarnedOfAndCounted() {
    request(1);
    call(0).answerAt(5_000_000_000L, fits(1, 9));
    request(2);
    call(1).answerAt(4_999_999_001L, fits(1, 9));
    assertThat(counters.clockSteps.sum()).as("less than a millisecond").isZero();
    request(3);
    call(2).answerAt(1_399_999_001L, fits(1, 9));
    request(4);
    call(3).answerAt(1_400_000_000L, fits(1, 9));

    assertThat(counters.clockSteps.sum()).isEqualTo(1);
    assertThat(warnings)
        .containsExactly(
            "the store's clock went back by PT1H: what was charged before counts until the clock"
                + " has caught up");
  }

  @Test
  void clockThatWentBackMeanwhile_isSeenByTheProbe() {
    request(1);
    call(0).answerAt(5_000_000L, fits(1, 9));
    caller.disconnected();
    while (shard.probes.size() < 2) {
      pass(TICK_NANOS);
    }
    shard.probes.get(1).complete(new FakeReply(3_000_000_000L));

    assertThat(counters.clockSteps.sum()).isEqualTo(1);
    assertThat(caller.available()).isTrue();
  }

  @Test
  void probeThatFails_isToldByItsCause_onceForEachKind() {
    caller.disconnected();
    log.clear();
    for (int i = 1; i <= 6; i++) {
      while (shard.probes.size() <= i) {
        pass(TICK_NANOS);
      }
      shard
          .probes
          .get(i)
          .completeExceptionally(
              new ShardException(
                  i < 4 ? Failure.NOPERM : Failure.LOADING, i < 4 ? "NOPERM no" : "LOADING yet"));
    }
    assertThat(log)
        .containsExactly(
            "the store does not decide (noperm: NOPERM no): rules answer by their on_failure until"
                + " it does",
            "the store does not decide (loading: LOADING yet): rules answer by their on_failure"
                + " until it does");
    assertThat(caller.problem()).isEqualTo("loading: LOADING yet");
    while (shard.probes.size() <= 7) {
      pass(TICK_NANOS);
    }
    shard.probes.get(7).complete(FakeShard.fine());
    assertThat(caller.problem()).isEmpty();
    assertThat(log).last().isEqualTo("the store answers: decisions are shared again");
  }

  @Test
  void shardThatThrows_failsTheQuestion_andTheNextIsAsked() {
    shard.thrown = new IllegalStateException("broken");
    Answers failed = request(1);
    shard.thrown = null;
    Answers next = request(2);
    call(0).answer(fits(1, 9));

    assertThat(failed.failure()).isEqualTo(Failure.OTHER);
    assertThat(next.times()).isEqualTo(1);
  }

  @Test
  void probeThatThrows_isFollowedByAnother() {
    caller.disconnected();
    shard.thrown = new IllegalStateException("broken");
    pass(TIMEOUT_NANOS);
    shard.thrown = null;
    while (shard.probes.size() < 2) {
      pass(TICK_NANOS);
    }

    shard.probes.get(1).complete(FakeShard.fine());
    assertThat(caller.available()).isTrue();
  }

  @Test
  void openBreaker_answersAtOnce() {
    caller.disconnected();

    assertThat(request(1).failure()).isEqualTo(Failure.OPEN);
    assertThat(shard.calls).isEmpty();
    assertThat(log)
        .containsExactly("the store is gone: rules answer by their on_failure until it is back");
  }

  @Test
  void loss_failsWhatIsOnItsWay_andWhatWaits() {
    occupy();
    Answers waiting = request(3);

    caller.disconnected();

    assertThat(waiting.failure()).isEqualTo(Failure.OPEN);
    assertThat(counters.failures().get("disconnected")).isEqualTo(2);
  }

  @Test
  void moreThanCanBeAnsweredInTime_isRefused() {
    occupy();
    int most = 1 << 16;
    for (int i = 0; i < most; i++) {
      request(i);
    }

    assertThat(request(-3).failure()).isEqualTo(Failure.OVERLOADED);
    assertThat(caller.queued()).isEqualTo(most);
    assertThat(counters.failures().get("overloaded")).isEqualTo(1);
  }

  @Test
  void refusing_stillSendsWhatWaits() {
    occupy();
    Answers waiting = request(1);
    caller.refuse();

    assertThat(request(2).failure()).isEqualTo(Failure.OPEN);
    assertThat(caller.idle()).isFalse();

    call(0).answer(fits(1, 9));
    call(1).answer(fits(1, 9));
    call(2).answer(fits(1, 9));

    assertThat(waiting.times()).isEqualTo(1);
    assertThat(caller.idle()).isTrue();
  }

  /** The closing thread may be one that was interrupted to make it end. */
  @Test
  void closingAnInterruptedThread_waitsAllTheSame() {
    Answers got = request(1);
    AtomicInteger looks = new AtomicInteger();
    Ticker time = () -> looks.getAndIncrement() < 3 ? 0 : TIMEOUT_NANOS;
    Thread.currentThread().interrupt();
    Caller.closeAll(List.of(caller), TIMEOUT_NANOS, time);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(looks.get()).isEqualTo(4);
    assertThat(got.answers).hasSize(1);
  }

  @Test
  void closing_answersEverything() {
    Answers sent = request(1);
    request(2);
    Answers waiting = request(3);

    caller.close();

    assertThat(sent.failure()).isEqualTo(Failure.DISCONNECTED);
    assertThat(waiting.failure()).isEqualTo(Failure.OPEN);
    assertThat(request(4).failure()).isEqualTo(Failure.OPEN);
    assertThat(caller.idle()).isTrue();
  }

  @Test
  void manyThreads_areToldOnceEach() throws InterruptedException {
    shard.answers =
        requests -> {
          long[] numbers = new long[7 * requests.size()];
          for (int i = 0; i < requests.size(); i++) {
            long half = (requests.get(i).count() + 1) / 2;
            long[] one = {half, half > 0 ? FITS : OVER_LIMIT, 0, -1, 0, 0, 0};
            System.arraycopy(one, 0, numbers, 7 * i, 7);
          }
          return numbers;
        };
    int threads = 8;
    int each = 2_000;
    List<Answers> got = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      new Thread(
              () -> {
                List<Answers> own = new ArrayList<>();
                for (int i = 0; i < each; i++) {
                  own.add(request(i % 3));
                }
                got.addAll(own);
                done.countDown();
              })
          .start();
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();

    assertThat(got).hasSize(threads * each);
    assertThat(got).allSatisfy(one -> assertThat(one.answers).hasSize(1));
    assertThat(counters.decided.sum()).isEqualTo((long) threads * each);
    assertThat(got.stream().mapToLong(Answers::times).sum())
        .isGreaterThanOrEqualTo((long) threads * each / 2);
    assertThat(got)
        .filteredOn(one -> one.times() == 0)
        .allSatisfy(one -> assertThat(one.result().retryAfterNanos()).isEqualTo(Decision.NEVER));
  }
}
