package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
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

  /** Another clock than the one that is moved by most tests. */
  private final FakeTicker wall = new FakeTicker(-1_000_000 * MILLI);

  private final Clocks clocks = new Clocks(ticker, wall);
  private final Counters counters = new Counters();
  private final FakeRedis redis = new FakeRedis(ticker);
  private final Policy policy = policy(Algorithm.SLIDING_WINDOW);
  private final Allotments allotments = allotments(policy);
  private final RedisLimit limit = Limits.of("weir", "leased", policy, allotments);

  private static Policy policy(Algorithm algorithm) {
    return Policy.builder(Quota.perSecond(1_000))
        .algorithm(algorithm)
        .consistency(Consistency.LEASED)
        .syncInterval(Duration.ofNanos(LIFE))
        .build();
  }

  private Allotments allotments(Policy policy) {
    return new Allotments(policy, clocks, counters, redis::ask);
  }

  private Told ask() {
    return ask(1);
  }

  private Told ask(long permits) {
    Told told = new Told();
    allotments.decide(limit, KEY, permits, told);
    return told;
  }

  private static Result said(long remaining, long retryNanos, long atNanos) {
    return new Result(Reason.WITHIN_LIMIT, remaining, retryNanos, 1_000 * MILLI, atNanos);
  }

  /** Answers the only question: so many fit, and so many remain. */
  private void grant(long times, long remaining) {
    redis.grant(times, said(remaining, 0, ticker.nanos()));
  }

  /** Has an allotment of one key grow to {@code size} permits ahead; they are left. */
  private void grow(int size) {
    ask();
    grant(1, 1_000_000);
    for (int ahead = 1; ahead <= size; ahead *= 2) {
      ask();
      assertThat(redis.wanted()).isEqualTo(1 + ahead);
      grant(1 + ahead, 1_000_000);
      if (2 * ahead <= size) {
        spend(ahead);
      }
    }
  }

  private void spend(int times) {
    for (int i = 0; i < times; i++) {
      assertThat(ask().times()).isEqualTo(1);
    }
  }

  @Test
  void firstQuestion_takesNothingAhead() {
    Told told = ask();

    assertThat(redis.wanted()).isEqualTo(1);
    grant(1, 999);
    assertThat(told.result().remaining()).isEqualTo(999);
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

    ask();

    // Of nine two were used.
    assertThat(redis.refunds()).containsExactly(7L);
    assertThat(redis.wanted()).isEqualTo(1 + 1);
  }

  @Test
  void takesNoMoreAheadThanAQuarterOfWhatRemains() {
    grow(8);
    spend(7);
    ask();
    ask();
    grant(9, 10);
    spend(8);

    ask();

    assertThat(redis.wanted()).isEqualTo(1 + 10 / 4);
  }

  @Test
  void grantsUntilItsEnd_andNotAtIt() {
    grow(8);
    ticker.advance(LIFE - 1);
    assertThat(ask().times()).isEqualTo(1);

    ticker.advance(1);
    Told late = ask();

    assertThat(late.answers).isEmpty();
    assertThat(redis.refunds()).containsExactly(7L);
  }

  @Test
  void endCountsFromTheQuestion_notFromItsAnswer() {
    ask();
    grant(1, 1_000);
    ask();
    ticker.advance(60 * MILLI);
    grant(2, 1_000);
    ticker.advance(40 * MILLI);

    assertThat(ask().answers).isEmpty();
  }

  @Test
  void whatIsLeftAtTheEnd_isGivenBackOnce() {
    grow(8);
    ticker.advance(2 * LIFE);
    allotments.tick(limit);
    allotments.tick(limit);
    ticker.advance(2 * LIFE);
    allotments.tick(limit);
    allotments.close(limit);

    assertThat(redis.refunds()).containsExactly(8L);
  }

  @Test
  void refusal_isRememberedUntilTheExactInstant() {
    ask();
    redis.grant(0, new Result(Reason.OVER_LIMIT, 0, 30 * MILLI, 1_000 * MILLI, 0));
    ticker.advance(10 * MILLI);

    Told refused = ask();
    assertThat(refused.result().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.result().retryAfterNanos()).isEqualTo(20 * MILLI);
    assertThat(redis.asked).isEmpty();

    ticker.advance(20 * MILLI);
    ask();
    assertThat(redis.wanted()).isEqualTo(1);
  }

  @Test
  void askersWhileAskingIsOnItsWay_shareTheNextQuestion() {
    Told first = ask();
    Told second = ask();
    Told third = ask();
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
    Told first = ask();
    Told second = ask();

    redis.fail(Failure.TIMEOUT);

    assertThat(first.failure()).isEqualTo(Failure.TIMEOUT);
    assertThat(second.failure()).isEqualTo(Failure.TIMEOUT);
    ask();
    assertThat(redis.wanted()).isEqualTo(1);
  }

  @Test
  void severalPermits_areSpentIfTheyAreThere_elseAskedForInRedis() {
    grow(8);

    assertThat(ask(8).result().fits()).isTrue();
    ask(5);
    assertThat(redis.only()).isEqualTo(new FakeShard.Request("some", 1, 5, 1, 0));
  }

  @Test
  void alignedWindow_endsTheAllotment() {
    for (Algorithm algorithm : List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW_COUNTER)) {
      FakeRedis other = new FakeRedis(ticker);
      Policy aligned = policy(algorithm);
      Allotments held = new Allotments(aligned, clocks, counters, other::ask);
      RedisLimit own = Limits.of("weir", "aligned", aligned, held);
      held.decide(own, KEY, 1, new Told());
      other.grant(1, said(100, 0, 970 * MILLI));
      held.decide(own, KEY, 1, new Told());
      // One more than is wanted, thirty milliseconds before the window's end.
      other.grant(2, said(100, 0, 970 * MILLI));
      ticker.advance(30 * MILLI - 1);
      Told before = new Told();
      held.decide(own, KEY, 1, before);
      ticker.advance(1);
      Told at = new Told();
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
    assertThat(ask().answers).as("over").isEmpty();
    assertThat(redis.refunds()).containsExactly(7L);
  }

  @Test
  void wallClockSetBack_lengthensNothing() {
    grow(8);
    wall.advance(-3_600_000 * MILLI);
    ticker.advance(LIFE - 1);
    spend(1);
    ticker.advance(1);
    assertThat(ask().answers).as("over").isEmpty();
  }

  @Test
  void refusal_isForgottenWhenTheWallClockSaysSo() {
    ask();
    redis.grant(0, said(0, 30 * MILLI, ticker.nanos()));
    assertThat(ask().times()).isZero();
    wall.advance(10 * MILLI);
    assertThat(ask().result().retryAfterNanos()).isEqualTo(20 * MILLI);
    wall.advance(20 * MILLI);
    assertThat(ask().answers).isEmpty();
  }

  @Test
  void whatIsGivenBackWhileAsking_isNotLost() {
    grow(1);
    Result granted = ask().result();
    ask();
    assertThat(allotments.refund(KEY, 1, granted.atNanos())).isEqualTo(1);

    grant(3, 1_000);

    assertThat(redis.refunds()).containsExactly(1L);
    spend(2);
    assertThat(ask().answers).isEmpty();
  }

  @Test
  void givingBackMoreThanWasTaken_mintsNothing() {
    grow(8);
    Result granted = ask().result();

    assertThat(allotments.refund(KEY, 100, granted.atNanos())).isEqualTo(2);
    spend(9);
    assertThat(ask().answers).isEmpty();
  }

  @Test
  void permitsOfAnEarlierAllotment_goBackToRedis() {
    grow(8);
    Result granted = ask().result();
    ticker.advance(LIFE);
    ask();
    grant(9, 1_000);

    assertThat(allotments.refund(KEY, 1, granted.atNanos())).isEqualTo(Holdings.NOT_HERE);
  }

  @Test
  void afterClosing_eachIsAskedForInRedis() {
    grow(8);
    allotments.close(limit);
    assertThat(redis.refunds()).containsExactly(8L);

    for (int i = 0; i < 20; i++) {
      ask();
      assertThat(redis.wanted()).isEqualTo(1);
      grant(1, 1_000_000);
    }
    assertThat(redis.refunds()).hasSize(1);
  }

  @Test
  void answerAfterClosing_isGivenBackExceptWhatIsWanted() {
    grow(8);
    spend(8);
    Told told = ask();
    allotments.close(limit);

    grant(17, 1_000);

    assertThat(told.times()).isEqualTo(1);
    assertThat(redis.refunds()).containsExactly(16L);
  }

  @Test
  void permitsThatCameMeanwhile_areUsedBeforeAskingAgain() throws InterruptedException {
    // Many threads at once: whatever was charged is admitted, left, or given back.
    int threads = 8;
    int each = 500;
    FakeRedis own = new FakeRedis(ticker);
    Allotments held = new Allotments(policy, clocks, counters, own::grantAtOnce);
    RedisLimit leased = Limits.of("weir", "threads", policy, held);
    List<Thread> running = new ArrayList<>();
    List<Told> told = java.util.Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < threads; t++) {
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < each; i++) {
                  Told one = new Told();
                  told.add(one);
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

    assertThat(told).allSatisfy(one -> assertThat(one.times()).isEqualTo(1));
    assertThat(own.charged - own.givenBack).isEqualTo((long) threads * each);
  }

  /** What happens: a number of the steps below, and by how much. */
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

  /** Knows of each grant only how much of it is left, and until when it lasts. */
  private static void check(List<Event> events) {
    FakeTicker time = new FakeTicker();
    FakeRedis far = new FakeRedis(time);
    Policy leased = policy(Algorithm.SLIDING_WINDOW);
    Allotments held = new Allotments(leased, new Clocks(time, time), new Counters(), far::ask);
    RedisLimit limit = Limits.of("weir", "model", leased, held);
    Map<Long, Long> balance = new HashMap<>();
    Map<Long, Long> ends = new HashMap<>();
    List<Told> all = new ArrayList<>();
    List<Result> spent = new ArrayList<>();
    for (Event event : events) {
      switch (event.step()) {
        case 0, 1 -> time.advance(event.amount() * MILLI);
        case 2, 3 -> {
          if (!far.asked.isEmpty()) {
            long times = Math.min(far.wanted(), event.amount());
            long at = time.nanos();
            // Every grant is at an instant of its own.
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
        case 6 -> held.tick(limit);
        default -> {
          Told told = new Told();
          all.add(told);
          held.decide(limit, KEY, 1, told);
          boolean here = !told.answers.isEmpty() && told.times() == 1;
          if (here) {
            long end = ends.getOrDefault(told.result().atNanos(), Long.MIN_VALUE);
            assertThat(time.nanos()).as("before the end").isLessThan(end);
          }
        }
      }
      for (Told told : List.copyOf(all)) {
        if (told.answers.isEmpty()) {
          continue;
        }
        all.remove(told);
        if (told.failure() == null && told.times() == 1) {
          long at = told.result().atNanos();
          assertThat(balance.merge(at, -1L, Long::sum)).as("of " + at).isNotNegative();
          spent.add(told.result());
        }
      }
      for (FakeRedis.Back back : far.takeBacks()) {
        assertThat(balance.merge(back.atNanos(), -back.permits(), Long::sum))
            .as("given back of " + back.atNanos())
            .isNotNegative();
      }
    }
  }
}
