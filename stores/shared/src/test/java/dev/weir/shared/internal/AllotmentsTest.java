package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.Answers;
import dev.weir.shared.Bindings;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.FakeCall;
import dev.weir.shared.FakeStore;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AllotmentsTest {
  private static final long MILLI = 1_000_000L;
  private static final long LIFE = 100 * MILLI;
  private static final long KEY = 7;

  private final FakeTicker ticker = new FakeTicker();

  /** A second clock, which most tests do not move. */
  private final FakeTicker wall = new FakeTicker(-1_000_000 * MILLI);

  private final Clocks clocks = new Clocks(ticker, wall);
  private final Counters counters = new Counters();
  private final FakeStore redis = new FakeStore(ticker);
  private final Policy policy = policy(Algorithm.SLIDING_WINDOW);
  private final Allotments allotments = allotments(policy);
  private final SharedBinding binding = Bindings.of("leased", policy, null, allotments);

  private static Policy policy(Algorithm algorithm) {
    return Policy.builder(Quota.perSecond(1_000))
        .algorithm(algorithm)
        .sharing(
            Sharing.STRICT.consistency(Consistency.LEASED).syncInterval(Duration.ofNanos(LIFE)))
        .build();
  }

  private Allotments allotments(Policy policy) {
    return new Allotments(policy, clocks, counters, Bindings.MANY_KEYS, redis::receive);
  }

  private Answers request() {
    return request(1);
  }

  private Answers request(long permits) {
    Answers got = new Answers();
    allotments.decide(binding, KEY, permits, got);
    return got;
  }

  private static Result said(long remaining, long retryNanos, long atNanos) {
    return new Result(Reason.WITHIN_LIMIT, remaining, retryNanos, 1_000 * MILLI, atNanos);
  }

  /** Answers the only operation: the permits fit that many times, and the rest remains. */
  private void grant(long times, long remaining) {
    redis.grant(times, said(remaining, 0, ticker.nanos()));
  }

  /**
   * Makes the allotment of one key grow to {@code size} permits in advance, all of which are left.
   */
  private void grow(int size) {
    request();
    grant(1, 1_000_000);
    for (int ahead = 1; ahead <= size; ahead *= 2) {
      request();
      assertThat(redis.wanted()).isEqualTo(1 + ahead);
      grant(1 + ahead, 1_000_000);
      if (2 * ahead <= size) {
        spend(ahead);
      }
    }
  }

  private void spend(int times) {
    for (int i = 0; i < times; i++) {
      assertThat(request().times()).isEqualTo(1);
    }
  }

  @Test
  void firstQuestion_takesNothingAhead() {
    Answers got = request();

    assertThat(redis.wanted()).isEqualTo(1);
    grant(1, 999);
    assertThat(got.result().remaining()).isEqualTo(999);
    assertThat(counters.held.sum()).isZero();
  }

  @Test
  void goneInLessThanHalfOfItsLife_doublesWhatIsTakenAhead() {
    grow(8);

    spend(8);
    assertThat(counters.held.sum()).isEqualTo(1 + 2 + 4 + 8);
  }

  @Test
  void mostOfItLeft_takesLessAhead() {
    grow(8);
    spend(1);
    ticker.advance(LIFE);

    request();

    // Of nine permits, two were used.
    assertThat(redis.refunds()).containsExactly(7L);
    assertThat(redis.wanted()).isEqualTo(1 + 1);
  }

  @Test
  void allotment_takesAtMostAQuarterOfWhatRemains() {
    grow(8);
    spend(7);
    request();
    request();
    grant(9, 10);
    spend(8);

    request();

    assertThat(redis.wanted()).isEqualTo(1 + 10 / 4);
  }

  @Test
  void grantsUntilItsEnd_andNotAtIt() {
    grow(8);
    ticker.advance(LIFE - 1);
    assertThat(request().times()).isEqualTo(1);

    ticker.advance(1);
    Answers late = request();

    assertThat(late.answers).isEmpty();
    assertThat(redis.refunds()).containsExactly(7L);
  }

  @Test
  void lateAnswer_servesOnlyThoseThatItWasAskedFor() {
    grow(2);
    spend(2);
    Answers first = request();
    assertThat(redis.wanted()).isEqualTo(1 + 4);
    ticker.advance(LIFE - 1);
    Answers second = request();
    ticker.advance(1);
    Answers third = request();

    grant(5, 1_000_000);

    assertThat(first.times()).isEqualTo(1);
    assertThat(second.answers).isEmpty();
    assertThat(third.answers).isEmpty();
    assertThat(redis.refunds()).containsExactly(4L);
    grant(redis.wanted(), 1_000_000);
    assertThat(second.times()).isEqualTo(1);
    assertThat(third.times()).isEqualTo(1);
  }

  @Test
  void endCountsFromTheQuestion_notFromItsAnswer() {
    request();
    grant(1, 1_000);
    request();
    ticker.advance(60 * MILLI);
    grant(2, 1_000);
    ticker.advance(40 * MILLI);

    assertThat(request().answers).isEmpty();
  }

  @Test
  void whatIsLeftAtTheEnd_isGivenBackOnce() {
    grow(8);
    ticker.advance(2 * LIFE);
    allotments.tick(binding);
    allotments.tick(binding);
    ticker.advance(2 * LIFE);
    allotments.tick(binding);
    allotments.close(binding);

    assertThat(redis.refunds()).containsExactly(8L);
  }

  @Test
  void refusal_isRememberedUntilTheExactInstant() {
    request();
    redis.grant(0, new Result(Reason.OVER_LIMIT, 0, 30 * MILLI, 1_000 * MILLI, 0));
    ticker.advance(10 * MILLI);

    Answers refused = request();
    assertThat(refused.result().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.result().retryAfterNanos()).isEqualTo(20 * MILLI);
    assertThat(redis.asked).isEmpty();

    ticker.advance(20 * MILLI);
    request();
    assertThat(redis.wanted()).isEqualTo(1);
  }

  @Test
  void askersWhileAskingIsOnItsWay_shareTheNextQuestion() {
    Answers first = request();
    Answers second = request();
    Answers third = request();
    grant(1, 100);

    assertThat(first.times()).isEqualTo(1);
    assertThat(second.answers).isEmpty();
    assertThat(redis.wanted()).isGreaterThanOrEqualTo(2);

    redis.grant(1, said(0, 50 * MILLI, 0));
    assertThat(second.times()).isEqualTo(1);
    assertThat(third.result().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(third.result().retryAfterNanos()).isEqualTo(50 * MILLI);
  }

  @Test
  void failure_isToldToAllWhoWait() {
    Answers first = request();
    Answers second = request();

    redis.fail(Failure.TIMEOUT);

    assertThat(first.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(second.failure()).isEqualTo(Failure.TIMEOUT);
    request();
    assertThat(redis.wanted()).isEqualTo(1);
  }

  @Test
  void severalPermits_areSpentIfTheyAreThere_elseAskedForInRedis() {
    grow(8);

    assertThat(request(8).result().fits()).isTrue();
    request(5);
    assertThat(redis.only()).isEqualTo(new FakeCall.Request("some", 1, 5, 1, 0));
  }

  @Test
  void alignedWindow_endsTheAllotment() {
    for (Algorithm algorithm : List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW_COUNTER)) {
      FakeStore other = new FakeStore(ticker);
      Policy aligned = policy(algorithm);
      Allotments held =
          new Allotments(aligned, clocks, counters, Bindings.MANY_KEYS, other::receive);
      SharedBinding own = Bindings.of("aligned", aligned, null, held);
      held.decide(own, KEY, 1, new Answers());
      other.grant(1, said(100, 0, 970 * MILLI));
      held.decide(own, KEY, 1, new Answers());
      // One permit more than needed, thirty milliseconds before the window's end.
      other.grant(2, said(100, 0, 970 * MILLI));
      ticker.advance(30 * MILLI - 1);
      Answers before = new Answers();
      held.decide(own, KEY, 1, before);
      ticker.advance(1);
      Answers at = new Answers();
      held.decide(own, KEY, 1, at);

      assertThat(before.times()).isEqualTo(1);
      assertThat(at.answers).isEmpty();
    }
  }

  @Test
  void suspendedMachine_endsAnAllotment_thoughTheMonotonicClockStoodStill() {
    grow(8);
    wall.advance(LIFE - 1);
    spend(1);
    wall.advance(1);
    assertThat(request().answers).as("over").isEmpty();
    assertThat(redis.refunds()).containsExactly(7L);
  }

  /** It may have been set back while the machine was suspended, and then no clock goes on. */
  @Test
  void wallClockSetBack_endsAnAllotment() {
    grow(8);
    wall.advance(-100 * MILLI);
    spend(1);
    wall.advance(-1);
    assertThat(request().answers).as("over").isEmpty();
    assertThat(redis.refunds()).containsExactly(7L);
  }

  @Test
  void slowWallClock_lengthensNothing() {
    grow(8);
    wall.advance(-100 * MILLI);
    advance(LIFE - 1);
    spend(1);
    advance(1);
    assertThat(request().answers).as("over").isEmpty();
  }

  private void advance(long nanos) {
    ticker.advance(nanos);
    wall.advance(nanos);
  }

  @Test
  void refusal_isForgottenWhenTheWallClockSaysSo() {
    request();
    redis.grant(0, said(0, 30 * MILLI, ticker.nanos()));
    assertThat(request().times()).isZero();
    wall.advance(10 * MILLI);
    assertThat(request().result().retryAfterNanos()).isEqualTo(20 * MILLI);
    wall.advance(20 * MILLI);
    assertThat(request().answers).isEmpty();
  }

  @Test
  void whatIsGivenBackWhileAsking_isNotLost() {
    grow(1);
    Result granted = request().result();
    request();
    assertThat(allotments.refund(KEY, 1, granted.atNanos())).isEqualTo(1);

    grant(3, 1_000);

    assertThat(redis.refunds()).containsExactly(1L);
    spend(2);
    assertThat(request().answers).isEmpty();
  }

  @Test
  void givingBackMoreThanWasTaken_mintsNothing() {
    grow(8);
    Result granted = request().result();

    assertThat(allotments.refund(KEY, 100, granted.atNanos())).isEqualTo(2);
    spend(9);
    assertThat(request().answers).isEmpty();
  }

  @Test
  void permitsOfAnEarlierAllotment_goBackToRedis() {
    grow(8);
    Result granted = request().result();
    ticker.advance(LIFE);
    request();
    grant(9, 1_000);

    assertThat(allotments.refund(KEY, 1, granted.atNanos())).isEqualTo(LocalAuthority.NOT_HERE);
  }

  @Test
  void afterClosing_eachIsAskedForInRedis() {
    grow(8);
    allotments.close(binding);
    assertThat(redis.refunds()).containsExactly(8L);

    for (int i = 0; i < 20; i++) {
      request();
      assertThat(redis.wanted()).isEqualTo(1);
      grant(1, 1_000_000);
    }
    assertThat(redis.refunds()).hasSize(1);
  }

  @Test
  void answerAfterClosing_isGivenBackExceptWhatIsWanted() {
    grow(8);
    spend(8);
    Answers got = request();
    allotments.close(binding);

    grant(17, 1_000);

    assertThat(got.times()).isEqualTo(1);
    assertThat(redis.refunds()).containsExactly(16L);
  }

  @Test
  void permitsThatCameMeanwhile_areUsedBeforeAskingAgain() throws InterruptedException {
    // Many threads at once: each charged permit is admitted, left, or given back.
    int threads = 8;
    int each = 500;
    FakeStore own = new FakeStore(ticker);
    Allotments held =
        new Allotments(policy, clocks, counters, Bindings.MANY_KEYS, own::grantAtOnce);
    SharedBinding leased = Bindings.of("threads", policy, null, held);
    List<Thread> running = new ArrayList<>();
    List<Answers> got = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < each; i++) {
                  Answers one = new Answers();
                  got.add(one);
                  held.decide(leased, KEY, 1, one);
                }
              });
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
    held.close(leased);

    assertThat(got).allSatisfy(one -> assertThat(one.times()).isEqualTo(1));
    assertThat(own.charged - own.givenBack).isEqualTo((long) threads * each);
  }

  /** An event: one of the steps below by its number, and an amount. */
  private record Event(int step, int amount) {}

  @Test
  void whateverHappens_nothingIsGrantedBeyondWhatRedisGaveWithinItsLife() {
    Trials.run(
        "allotments",
        500,
        random -> {
          List<Event> events = new ArrayList<>();
          for (int i = 0; i < 200; i++) {
            events.add(new Event(random.nextInt(10), random.nextInt(40)));
          }
          return new Trials.Trial<>(policy.toString(), events, AllotmentsTest::check);
        });
  }

  /** Replays events against a model: of each grant, the permits that are left and its end. */
  private static void check(List<Event> events) {
    FakeTicker time = new FakeTicker();
    FakeStore far = new FakeStore(time);
    Policy leased = policy(Algorithm.SLIDING_WINDOW);
    Allotments held =
        new Allotments(
            leased, new Clocks(time, time), new Counters(), Bindings.MANY_KEYS, far::receive);
    SharedBinding binding = Bindings.of("model", leased, null, held);
    Map<Long, Long> balance = new HashMap<>();
    Map<Long, Long> ends = new HashMap<>();
    List<Answers> all = new ArrayList<>();
    List<Result> spent = new ArrayList<>();
    for (Event event : events) {
      switch (event.step()) {
        case 0, 1 -> time.advance(event.amount() * MILLI);
        case 2, 3 -> {
          if (!far.asked.isEmpty()) {
            long times = Math.min(far.wanted(), event.amount());
            long at = time.nanos();
            // Every grant has an instant of its own.
            time.advance(1_000);
            balance.put(at, times);
            ends.put(at, far.askedAtNanos + LIFE);
            far.grant(times, said(event.amount() * 10L, times < far.wanted() ? MILLI : 0, at));
          }
        }
        case 4 -> {
          if (!far.asked.isEmpty()) {
            far.fail(Failure.TIMEOUT);
          }
        }
        case 5 -> {
          if (!spent.isEmpty()) {
            Result back = spent.remove(event.amount() % spent.size());
            long given = held.refund(KEY, 1, back.atNanos());
            if (given > 0) {
              balance.merge(back.atNanos(), given, Long::sum);
            }
          }
        }
        case 6 -> held.tick(binding);
        default -> {
          Answers got = new Answers();
          all.add(got);
          held.decide(binding, KEY, 1, got);
          boolean here = !got.answers.isEmpty() && got.times() == 1;
          if (here) {
            long end = ends.getOrDefault(got.result().atNanos(), Long.MIN_VALUE);
            assertThat(time.nanos()).as("before the end").isLessThan(end);
          }
        }
      }
      for (Answers got : List.copyOf(all)) {
        if (got.answers.isEmpty()) {
          continue;
        }
        all.remove(got);
        if (got.failure() == null && got.times() == 1) {
          long at = got.result().atNanos();
          assertThat(balance.merge(at, -1L, Long::sum)).as("of " + at).isNotNegative();
          spent.add(got.result());
        }
      }
      for (FakeStore.Back back : far.takeBacks()) {
        assertThat(balance.merge(back.atNanos(), -back.permits(), Long::sum))
            .as("given back of " + back.atNanos())
            .isNotNegative();
      }
    }
  }

  @Test
  void sweepWhileAnotherThreadSweeps_isDoneWhole() {
    List<Boolean> idle = new ArrayList<>();
    List<Allotments> swept = new ArrayList<>();
    Allotments held =
        new Allotments(
            policy,
            clocks,
            counters,
            Bindings.MANY_KEYS,
            operation -> {
              if (FakeCall.requests(operation).get(0).kind().equals("refund")) {
                swept.get(0).tick(binding); // Like another thread at this moment.
                idle.add(swept.get(0).idle());
              } else {
                redis.receive(operation);
              }
            });
    swept.add(held);
    held.decide(binding, KEY, 1, new Answers());
    grant(1, 1_000_000);
    held.decide(binding, KEY, 1, new Answers());
    grant(2, 1_000_000);
    ticker.advance(3 * LIFE);

    held.tick(binding);

    assertThat(idle).containsExactly(true);
  }
}
