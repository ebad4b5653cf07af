package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.Answers;
import dev.weir.shared.Bindings;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.FakeStore;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalCountsTest {
  private static final long MILLI = 1_000_000L;
  private static final long INTERVAL = 50 * MILLI;
  private static final long KEY = 7;

  private final FakeTicker ticker = new FakeTicker();
  private final FakeTicker wall = new FakeTicker(1_000_000 * MILLI);
  private final Clocks clocks = new Clocks(ticker, wall);
  private final FakeStore redis = new FakeStore(ticker);

  /** A process may have five unrecorded permits. */
  private final Policy policy = policy(100);

  private final LocalCounts counts =
      new LocalCounts(policy, clocks, new Counters(), Bindings.MANY_KEYS, redis::receive);
  private final SharedBinding binding = Bindings.of("approximate", policy, null, counts);

  private static Policy policy(long permits) {
    return Policy.builder(Quota.perSecond(permits))
        .sharing(
            Sharing.STRICT
                .consistency(Consistency.APPROXIMATE)
                .syncInterval(Duration.ofNanos(INTERVAL)))
        .build();
  }

  private Answers request(long permits) {
    Answers got = new Answers();
    counts.decide(binding, KEY, permits, got);
    return got;
  }

  private static Result fits(long remaining, long atNanos) {
    return new Result(Reason.WITHIN_LIMIT, remaining, 0, 1_000 * MILLI, atNanos);
  }

  /** Sets the view: that many permits remain in Redis. */
  private void know(long remaining) {
    request(1);
    redis.grant(1, fits(remaining, ticker.nanos()));
  }

  @Test
  void unrecorded_areTheQuotasShareOfTheInterval_atLeastOne() {
    assertThat(List.of(0, 1, 19, 20, 40, 100))
        .extracting(permits -> LocalCounts.mostUnrecorded(policy(permits)))
        .containsExactly(1L, 1L, 1L, 1L, 2L, 5L);
  }

  @Test
  void unknownKey_isAskedFor() {
    Answers got = request(1);
    assertThat(got.answers).isEmpty();

    redis.grant(1, fits(99, 0));
    assertThat(got.times()).isEqualTo(1);
  }

  @Test
  void knownKey_isDecidedHere_untilAsManyAreUnrecordedAsMayBe() {
    know(99);

    for (int left = 98; left >= 94; left--) {
      assertThat(request(1).result().remaining()).isEqualTo(left);
    }
    assertThat(redis.asked).isEmpty();

    assertThat(request(1).answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("record 5, some 1");
  }

  @Test
  void whatRemains_isNeverExceeded() {
    know(2);

    assertThat(request(2).times()).isEqualTo(1);
    assertThat(request(1).answers).isEmpty();
  }

  @Test
  void oldView_isAskedAnew() {
    know(99);
    ticker.advance(INTERVAL - 1);
    assertThat(request(1).times()).isEqualTo(1);

    ticker.advance(1);
    assertThat(request(1).answers).isEmpty();
  }

  @Test
  void suspendedMachine_hasAnOldView_thoughTheMonotonicClockStoodStill() {
    know(99);
    wall.advance(INTERVAL - 1);
    assertThat(request(1).times()).isEqualTo(1);

    wall.advance(1);
    assertThat(request(1).answers).isEmpty();
  }

  @Test
  void wallClockSetBack_endsAView() {
    know(99);
    wall.advance(-3_600_000 * MILLI);
    assertThat(request(1).answers).isEmpty();
  }

  @Test
  void refusal_isForgottenWhenTheWallClockSaysSo() {
    request(3);
    redis.grant(0, new Result(Reason.OVER_LIMIT, 2, 30 * MILLI, 1_000 * MILLI, 0));
    assertThat(request(3).times()).isZero();
    wall.advance(30 * MILLI);
    assertThat(request(3).answers).isEmpty();
  }

  @Test
  void eachPermit_isToldOnce() {
    know(99);
    request(2);
    request(1);
    ticker.advance(INTERVAL);
    counts.tick(binding);
    assertThat(redis.kinds()).containsExactly("record 3");

    ticker.advance(INTERVAL);
    counts.tick(binding);
    assertThat(redis.kinds()).containsExactly("record 3");

    redis.take(fits(90, 0));
    ticker.advance(INTERVAL);
    counts.tick(binding);
    assertThat(redis.asked).isEmpty();
  }

  @Test
  void whatCouldNotBeTold_isToldAgain() {
    know(99);
    request(3);
    ticker.advance(INTERVAL);
    counts.tick(binding);
    redis.fail(Failure.TIMEOUT);

    ticker.advance(INTERVAL);
    counts.tick(binding);

    assertThat(redis.kinds()).containsExactly("record 3");
  }

  @Test
  void askWhileTelling_waitsUntilRedisKnows_forOneCallMayOvertakeAnother() {
    know(99);
    request(2);
    ticker.advance(INTERVAL / 2);
    counts.tick(binding);
    request(3);

    Answers first = request(1);
    Answers second = request(1);
    assertThat(redis.kinds()).containsExactly("record 2");

    redis.take(fits(96, ticker.nanos()));
    assertThat(redis.kinds()).containsExactly("record 3, some 1");

    redis.takeAndGrant(fits(1, ticker.nanos()), 1, fits(0, ticker.nanos()));
    assertThat(first.times()).isEqualTo(1);
    assertThat(redis.kinds()).containsExactly("some 1");

    redis.grant(0, new Result(Reason.OVER_LIMIT, 0, 30 * MILLI, 1_000 * MILLI, 0));
    assertThat(second.result().reason()).isEqualTo(Reason.OVER_LIMIT);
  }

  @Test
  void chargeThatWouldFitHere_isHeldWhileRedisIsAsked_thatItDecidesWithoutNone() {
    know(99);
    request(2);
    request(6);
    assertThat(redis.kinds()).containsExactly("record 2, some 6");

    Answers held = request(1);
    Answers larger = request(4);
    Answers last = request(1);
    assertThat(redis.asked).hasSize(1);

    redis.takeAndGrant(fits(97, ticker.nanos()), 1, fits(4, ticker.nanos()));
    assertThat(held.result().remaining()).isEqualTo(3);
    assertThat(redis.kinds()).containsExactly("record 1, some 4");
    // It waits no longer than a round, and does not overtake.
    redis.takeAndGrant(
        fits(3, ticker.nanos()), 0, new Result(Reason.OVER_LIMIT, 3, MILLI, 1_000 * MILLI, 0));
    assertThat(larger.result().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(redis.kinds()).containsExactly("some 1");
    ticker.advance(1_000);
    redis.grant(1, fits(2, ticker.nanos()));
    assertThat(last.times()).isEqualTo(1);
    assertThat(request(1).times()).isEqualTo(1);
  }

  @Test
  void chargeThatIsHeld_isAskedForWhenTheAnswerFails_andTakesPartInTheDeadline() {
    know(99);
    request(6);
    Answers held = request(1);
    ticker.advance(INTERVAL);
    redis.fail(Failure.TIMEOUT);

    assertThat(held.answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("some 1");
    assertThat(redis.asked.element().waitedNanos).isEqualTo(INTERVAL);
  }

  @Test
  void answerThatAnotherOvertook_doesNotReplaceIt() {
    know(99);
    request(2);
    ticker.advance(INTERVAL / 2);
    counts.tick(binding);
    Operation slow = redis.asked.remove();
    long early = ticker.nanos();
    request(3);
    ticker.advance(INTERVAL / 2);
    counts.tick(binding);
    redis.take(fits(0, ticker.nanos()));
    redis.asked.add(slow);
    redis.take(fits(5, early));

    assertThat(request(1).answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("some 1");
  }

  @Test
  void clockOfRedisIsSetBack_itsNextAnswerHoldsNevertheless() {
    know(99);
    ticker.advance(INTERVAL);
    request(1);
    ticker.advance(1);
    redis.grant(1, fits(99, -3_600_000 * MILLI));

    assertThat(request(1).result().atNanos()).isEqualTo(-3_600_000 * MILLI);
  }

  @Test
  void askWhileTelling_failsIfThatFails_andTakesPartInItsDeadline() {
    know(99);
    request(2);
    ticker.advance(INTERVAL / 2);
    counts.tick(binding);
    Answers failed = request(6);
    redis.fail(Failure.TIMEOUT);
    assertThat(failed.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(redis.asked).isEmpty();

    ticker.advance(INTERVAL / 2);
    counts.tick(binding);
    request(6);
    ticker.advance(3 * MILLI);
    redis.take(fits(97, ticker.nanos()));
    assertThat(redis.asked.element().waitedNanos).isEqualTo(3 * MILLI);
  }

  @Test
  void whatRedisMayBeGiving_isNotAdmittedHereAsWell() {
    know(6);
    request(6);

    assertThat(redis.kinds()).containsExactly("some 6");
    assertThat(request(1).answers).isEmpty();
  }

  @Test
  void refusal_isRememberedUntilTheInstant_forThosePermits() {
    request(3);
    redis.grant(0, new Result(Reason.OVER_LIMIT, 2, 30 * MILLI, 1_000 * MILLI, 0));
    ticker.advance(10 * MILLI);

    Answers refused = request(3);
    assertThat(refused.result().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.result().retryAfterNanos()).isEqualTo(20 * MILLI);
    assertThat(request(2).answers).isEmpty();
    redis.grant(1, fits(0, 0));
    // Four permits may have to wait longer.
    assertThat(request(4).answers).isEmpty();
    redis.grant(0, new Result(Reason.OVER_LIMIT, 0, Decision.NEVER, 1_000 * MILLI, 0));

    ticker.advance(20 * MILLI);
    assertThat(request(3).answers).isEmpty();
  }

  /** The remaining permits may lack those that this process has recorded since. */
  @Test
  void whatRemainsByARefusal_isNotAdmittedHere() {
    request(3);
    redis.grant(0, new Result(Reason.OVER_LIMIT, 2, 30 * MILLI, 1_000 * MILLI, 0));
    assertThat(request(1).answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("some 1");
  }

  @Test
  void failure_isTold_andNothingIsAdmittedForIt() {
    know(1);
    Answers got = request(2);

    redis.fail(Failure.TIMEOUT);

    assertThat(got.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(request(1).times()).isEqualTo(1);
  }

  @Test
  void refund_ofWhatIsUnrecorded_isHere_andOnce() {
    know(1);
    Result admitted = request(1).result();

    assertThat(counts.refund(KEY, 1, admitted.atNanos())).isEqualTo(1);
    assertThat(counts.refund(KEY, 1, admitted.atNanos())).isEqualTo(LocalAuthority.NOT_HERE);
    assertThat(request(1).times()).isEqualTo(1);
  }

  @Test
  void refund_ofOlderPermits_takesNoneOfTheNewerBack() {
    know(99);
    Result old = request(1).result();
    ticker.advance(2_000 * MILLI);
    request(1);
    redis.takeAndGrant(fits(99, ticker.nanos()), 1, fits(98, ticker.nanos()));
    request(1);

    assertThat(counts.refund(KEY, 1, old.atNanos())).isEqualTo(LocalAuthority.NOT_HERE);
  }

  @Test
  void afterClosing_allIsTold_andRedisDecides() {
    know(99);
    request(2);

    counts.close(binding);
    assertThat(redis.kinds()).containsExactly("record 2");

    assertThat(request(1).answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("record 2");
    redis.take(fits(97, 0));
    assertThat(redis.kinds()).containsExactly("some 1");
  }

  @Test
  void looking_asksRedis() {
    know(99);

    assertThat(request(0).answers).isEmpty();
    assertThat(redis.kinds()).containsExactly("some 0");
  }
}
