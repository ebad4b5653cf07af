package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Reservation;
import dev.weir.testkit.Trials.Trial;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of reserving, waiting and cancelling, for every rate. */
public abstract class ReservationContract extends StoreFixture {
  private static final long SECOND = 1_000_000_000L;

  /** Creates a limiter that decides by a ticker. Default: one on a store of its own. */
  protected RateLimiter createLimiter(Policy policy, FakeTicker ticker) {
    return RateLimiter.builder(policy).ticker(ticker).store(store()).build();
  }

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).name("waited for").algorithm(algorithm).build();
  }

  private static Duration nanos(long nanos) {
    return Duration.ofNanos(nanos);
  }

  @Test
  void waiters_areServedInOrder_andNoneIsOvertaken() throws InterruptedException {
    for (Algorithm algorithm : Algorithm.rates()) {
      FakeTicker ticker = new FakeTicker(5 * SECOND);
      RateLimiter limiter = createLimiter(policy(algorithm, 2), ticker);
      limiter.tryAcquire("k", 2);
      List<Reservation> queue = new ArrayList<>();
      for (int i = 0; i < (algorithm == Algorithm.LEAKY_BUCKET ? 0 : 5); i++) {
        queue.add(limiter.reserve("k", 1, Duration.ofMinutes(1)));
      }
      for (Reservation each : queue) {
        assertThat(each.granted()).as("%s", algorithm).isTrue();
        long due = each.decision().atNanos();
        assertThat(each.waitNanos()).isEqualTo(Math.max(0, due - ticker.nanos()));
        assertThat(limiter.tryAcquire("k").allowed()).isFalse();
        each.await();
        assertThat(ticker.nanos()).isEqualTo(due);
      }
    }
  }

  @Test
  void leakyBucket_letsPermitsLeaveOneEmissionIntervalApart() {
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter = createLimiter(policy(Algorithm.LEAKY_BUCKET, 10), ticker);
    for (int i = 0; i < 10; i++) {
      Reservation each = limiter.reserve("k", 1, Duration.ofMinutes(1));
      assertThat(each.granted()).isTrue();
      assertThat(each.waitNanos()).isEqualTo(i * SECOND / 10);
    }
    Reservation full = limiter.reserve("k", 1, Duration.ofMinutes(1));
    assertThat(full.granted()).isFalse();
    assertThat(full.decision().retryAfterNanos()).isEqualTo(SECOND / 10);
    ticker.advance(SECOND / 10 - steps(1));
    assertThat(limiter.reserve("k", 1, Duration.ofMinutes(1)).granted()).isFalse();
    ticker.advance(steps(1));
    assertThat(limiter.reserve("k", 1, Duration.ofMinutes(1)).waitNanos())
        .isEqualTo(SECOND - SECOND / 10);
  }

  @Test
  void waitLongerThanTheTimeout_isRefusedAtOnce() throws InterruptedException {
    for (Algorithm algorithm : Algorithm.rates()) {
      FakeTicker ticker = new FakeTicker(5 * SECOND);
      RateLimiter limiter = createLimiter(policy(algorithm, 2), ticker);
      limiter.tryAcquire("k", 2);
      long retry = limiter.tryAcquire("k").retryAfterNanos();
      long wait = algorithm == Algorithm.LEAKY_BUCKET ? -1 : retry;

      Decision refused = limiter.acquire("k", 1, nanos(retry - steps(1)));
      assertThat(refused.allowed()).as("%s", algorithm).isFalse();
      assertThat(refused.reason()).isEqualTo(Reason.OVER_LIMIT);
      assertThat(refused.retryAfterNanos()).isEqualTo(retry);
      assertThat(ticker.nanos()).isEqualTo(5 * SECOND);
      if (wait >= 0) {
        assertThat(limiter.acquire("k", 1, nanos(retry)).allowed()).isTrue();
        assertThat(ticker.nanos()).isEqualTo(5 * SECOND + retry);
      }
      Decision never = limiter.acquire("k", 3, Duration.ofDays(9_999));
      assertThat(never.allowed()).isFalse();
      assertThat(never.retryAfterNanos()).isEqualTo(Decision.NEVER);
    }
  }

  @Test
  void zeroPermits_neverWait() {
    for (Algorithm algorithm : Algorithm.values()) {
      RateLimiter limiter = createLimiter(policy(algorithm, 2), new FakeTicker());
      limiter.tryAcquire("k", 2);
      Reservation none = limiter.reserve("k", 0, Duration.ZERO);
      assertThat(none.granted()).as("%s", algorithm).isTrue();
      assertThat(none.waitNanos()).isZero();
    }
  }

  @Test
  void cancelledLastInLine_givesAllBack() {
    for (Algorithm algorithm : Algorithm.rates()) {
      FakeTicker ticker = new FakeTicker(5 * SECOND);
      RateLimiter limiter = createLimiter(policy(algorithm, 2), ticker);
      boolean leaky = algorithm == Algorithm.LEAKY_BUCKET;
      limiter.tryAcquire("k", leaky ? 1 : 2);
      long due = limiter.reserve("k", 1, Duration.ofMinutes(1)).decision().atNanos();
      RateLimiter same = createLimiter(policy(algorithm, 2), ticker);
      same.tryAcquire("k", leaky ? 1 : 2);
      Reservation cancelled = same.reserve("k", 1, Duration.ofMinutes(1));

      assertThat(cancelled.cancel()).as("%s", algorithm).isTrue();
      assertThat(cancelled.cancel()).isFalse();
      assertThat(same.reserve("k", 1, Duration.ofMinutes(1)).decision().atNanos()).isEqualTo(due);
      assertThatThrownBy(cancelled::await).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void cancelledReservation_keepsNoRequestWaitingThatFitsEarlier() {
    FakeTicker ticker = new FakeTicker(5 * SECOND);
    RateLimiter limiter = createLimiter(policy(Algorithm.SLIDING_WINDOW_LOG, 2), ticker);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
    ticker.advance(SECOND / 2);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
    Reservation both = limiter.reserve("k", 2, Duration.ofMinutes(1));
    assertThat(both.waitNanos()).isEqualTo(SECOND);
    assertThat(both.cancel()).isTrue();
    ticker.advance(SECOND / 2);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
  }

  @Test
  void interruptedWaiter_givesItsPermitsBack() {
    for (Algorithm algorithm : Algorithm.rates()) {
      FakeTicker ticker = new FakeTicker(5 * SECOND);
      RateLimiter limiter = createLimiter(policy(algorithm, 2), ticker);
      limiter.tryAcquire("k", algorithm == Algorithm.LEAKY_BUCKET ? 1 : 2);
      Decision expected = limiter.peek("k", 1);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> limiter.acquire("k", 1, Duration.ofMinutes(1)))
          .isInstanceOf(InterruptedException.class);
      assertThat(ticker.nanos()).isEqualTo(5 * SECOND);
      ticker.advance(2 * SECOND);
      assertThat(limiter.peek("k", 2).allowed()).as("%s after %s", algorithm, expected).isTrue();
    }
  }

  @Test
  void reservationOnAClockThatIsBehind_isDueWhenItsPermitsAre() {
    FakeTicker ticker = new FakeTicker(5 * SECOND);
    RateLimiter limiter = createLimiter(policy(Algorithm.SLIDING_WINDOW_LOG, 1), ticker);
    limiter.tryAcquire("k");
    ticker.advance(-SECOND / 2);
    Reservation reservation = limiter.reserve("k", 1, Duration.ofMinutes(1));
    assertThat(reservation.decision().atNanos()).isEqualTo(6 * SECOND);
    assertThat(reservation.waitNanos()).isEqualTo(SECOND + SECOND / 2);
  }

  /** An event for one limiter: a request, a reservation, or the cancelling of an earlier one. */
  private record Step(GeneratedRequest ask, long maxWaitNanos, int cancel) {}

  @Tag("model")
  @Tag("sample")
  @Test
  void randomReservationsAndCancels_neverAdmitTooMuch() {
    for (Algorithm algorithm : Algorithm.rates()) {
      Trials.run(
          getClass().getSimpleName() + ".randomReservations " + algorithm,
          times(150),
          random -> {
            Policy policy = policy(algorithm, random.nextLong(1, 12));
            return new Trial<>(
                policy.toString(),
                steps(random, policy),
                some -> netStaysWithinBound(policy, some));
          });
    }
  }

  private List<Step> steps(SplittableRandom random, Policy policy) {
    List<Step> steps = new ArrayList<>();
    for (GeneratedRequest ask : Traffic.of(random, policy, 80, 0, resolutionNanos())) {
      long wait = random.nextInt(3) == 0 ? grid(random.nextLong(5 * SECOND)) : -1;
      steps.add(new Step(ask, wait, random.nextInt(4) == 0 ? random.nextInt(6) : -1));
    }
    return steps;
  }

  private void netStaysWithinBound(Policy policy, List<Step> steps) {
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter = createLimiter(policy, ticker);
    List<Operation> history = new ArrayList<>();
    List<Reservation> reserved = new ArrayList<>();
    List<Operation> operations = new ArrayList<>();
    for (Step step : steps) {
      GeneratedRequest ask = step.ask();
      ticker.set(ask.nowNanos());
      int i = reserved.size() - 1 - step.cancel();
      // Before its instant comes, a reservation is given back completely or not at all.
      boolean waits = step.cancel() >= 0 && i >= 0 && reserved.get(i).waitNanos() > 0;
      if (waits && reserved.get(i).cancel()) {
        history.remove(operations.get(i));
      }
      if (step.maxWaitNanos() < 0) {
        Decision answer = limiter.tryAcquire(ask.key(), ask.permits());
        history.add(Operation.at(ask.key(), ask.permits(), answer));
      } else {
        Reservation answer = limiter.reserve(ask.key(), ask.permits(), nanos(step.maxWaitNanos()));
        Operation operation = Operation.at(ask.key(), ask.permits(), answer.decision());
        history.add(operation);
        if (answer.granted()) {
          reserved.add(answer);
          operations.add(operation);
          assertThat(answer.decision().atNanos()).isGreaterThanOrEqualTo(ask.nowNanos());
        }
      }
    }
    long window = policy.quota().windowNanos();
    assertThat(WindowChecker.fullest(history, window).permits())
        .isLessThanOrEqualTo(Oracle.bound(policy));
  }
}
