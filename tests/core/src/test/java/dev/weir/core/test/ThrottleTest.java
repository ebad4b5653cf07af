package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Reservation;
import dev.weir.Throttle;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Soft limits admit N and a share of it; elastic ones admit N while the load is not below their
 * threshold.
 */
class ThrottleTest {
  private static final long WINDOW = 60_000_000_000L;

  private final FakeTicker ticker = new FakeTicker();
  private volatile double load;

  private static Policy.Builder policy(long permits, Throttle throttle) {
    return Policy.builder(new Quota(permits, WINDOW)).throttle(throttle);
  }

  private RateLimiter limiter(Policy.Builder policy) {
    return RateLimiter.builder(policy.build()).ticker(ticker).load(() -> load).build();
  }

  @Test
  void softLimit_admits525Of500With5Percent_andMarksThoseBeyond() {
    RateLimiter limiter = limiter(policy(500, Throttle.soft(0.05)));
    for (int i = 1; i <= 600; i++) {
      Decision decision = limiter.tryAcquire("k");
      assertThat(decision.allowed()).as("request %d", i).isEqualTo(i <= 525);
      assertThat(decision.limit()).isEqualTo(500);
      assertThat(decision.remaining()).isEqualTo(Math.max(0, 500 - i));
      assertThat(decision.reason())
          .isEqualTo(
              i <= 500 ? Reason.WITHIN_LIMIT : i <= 525 ? Reason.TOLERATED : Reason.OVER_LIMIT);
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void softLimit_decidesAsAHardOneOfItsBound(Algorithm algorithm) {
    int runs = 30;
    SplittableRandom random = Trials.random("softLimit " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      long permits = random.nextLong(1, 300);
      Policy.Builder soft = policy(permits, Throttle.soft(0.2)).algorithm(algorithm);
      Policy.Builder hard = policy(permits + permits / 5, Throttle.HARD).algorithm(algorithm);
      if (algorithm.bucket()) {
        soft.burst(permits / 2);
        hard.burst(permits / 2 + permits / 2 / 5);
      }
      RateLimiter ours = limiter(soft);
      RateLimiter right = limiter(hard);
      for (int i = 0; i < 200; i++) {
        ticker.advance(random.nextLong(WINDOW / permits));
        long asked = random.nextLong(3);
        Decision expected = right.tryAcquire("k", asked);
        Decision decision = ours.tryAcquire("k", asked);
        assertThat(decision.allowed()).isEqualTo(expected.allowed());
        assertThat(decision.retryAfterNanos()).isEqualTo(expected.retryAfterNanos());
        long beyond = right.policy().burst() - ours.policy().burst();
        assertThat(decision.remaining()).isEqualTo(Math.max(0, expected.remaining() - beyond));
        assertThat(decision.reason() == Reason.TOLERATED)
            .isEqualTo(expected.allowed() && expected.remaining() < beyond);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "500, 0.05, 25",
    "100, 0.29, 29",
    "10, 0.05, 0",
    "7, 1, 7",
    "4294967295, 0.000001, 4294",
    "1000000, 0.333333, 333333",
    "0, 0.5, 0"
  })
  void tolerance_isExact_roundedDown(long permits, double share, long tolerated) {
    assertThat(Throttle.soft(share).tolerated(permits)).isEqualTo(tolerated);
    assertThat(
            BigDecimal.valueOf(share)
                .multiply(BigDecimal.valueOf(permits))
                .setScale(0, RoundingMode.FLOOR)
                .longValueExact())
        .isEqualTo(tolerated);
  }

  @Test
  void packedDecisions_meanTheSame() {
    RateLimiter limiter = limiter(policy(2, Throttle.soft(0.5)));
    assertThat(limiter.packed().decide("k", 1)).isEqualTo(1);
    long[] decisions = new long[2];
    assertThat(limiter.packed().decide("k", 1)).isZero();
    assertThat(limiter.packed().decide("k", 1)).isZero();
    assertThat(PackedDecision.reason(limiter.packed().decide("k", 1))).isEqualTo(Reason.OVER_LIMIT);
    limiter.packed().decide(new long[] {4, 4}, 2, decisions);
    assertThat(decisions[0]).isZero();
    assertThat(PackedDecision.allowed(decisions[1])).isFalse();
  }

  @Test
  void refund_ofASoftBucket_givesBackWhatWasCharged() {
    RateLimiter limiter = limiter(policy(10, Throttle.soft(0.2)).algorithm(Algorithm.TOKEN_BUCKET));
    Decision charged = limiter.tryAcquire("k", 12);
    assertThat(charged.reason()).isEqualTo(Reason.TOLERATED);
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    assertThat(limiter.refund("k", 12, charged)).isEqualTo(12);
    assertThat(limiter.tryAcquire("k", 12).allowed()).isTrue();
  }

  @Test
  void elasticLimit_refusesNothingBelowTheThreshold_andIsHardFromItOn() {
    RateLimiter limiter = limiter(policy(3, Throttle.elastic(0.7)));
    load = 0.69;
    for (int i = 0; i < 10; i++) {
      Decision decision = limiter.tryAcquire("k");
      assertThat(decision.allowed()).isTrue();
      assertThat(decision.reason()).isEqualTo(i < 3 ? Reason.WITHIN_LIMIT : Reason.TOLERATED);
      assertThat(decision.retryAfterNanos()).isZero();
    }
    assertThat(limiter.packed().decide("k", 1)).isZero();
    load = 0.7;
    Decision refused = limiter.tryAcquire("k");
    assertThat(refused.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(refused.retryAfterNanos()).isEqualTo(WINDOW);
    assertThat(PackedDecision.reason(limiter.packed().decide("k", 1))).isEqualTo(Reason.OVER_LIMIT);

    // Tolerated permits were not charged: no request has to wait for them.
    ticker.advance(WINDOW);
    assertThat(limiter.tryAcquire("k", 3).allowed()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, 1, 7, Double.POSITIVE_INFINITY})
  void elasticLimit_isHard_whereTheLoadIsHighOrNotKnown(double unknown) {
    RateLimiter limiter = limiter(policy(3, Throttle.elastic(1)));
    load = unknown;
    assertThat(limiter.tryAcquire("k", 3).allowed()).isTrue();
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    RateLimiter deaf =
        RateLimiter.builder(policy(3, Throttle.elastic(1)).build()).ticker(ticker).build();
    assertThat(deaf.tryAcquire("k", 4).allowed()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void elasticLimit_admitsNoMoreThanItsBoundUnderLoad_howeverTheLoadComesAndGoes(
      Algorithm algorithm) {
    int runs = 20;
    SplittableRandom random = Trials.random("elasticLimit " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      long permits = random.nextLong(1, 40);
      Policy.Builder elastic = policy(permits, Throttle.elastic(0.5)).algorithm(algorithm);
      RateLimiter limiter = limiter(elastic);
      long bound = Oracle.bound(elastic.build().enforced());
      List<WindowChecker.Operation> underLoad = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        ticker.advance(random.nextLong(WINDOW / permits));
        load = random.nextInt(20) == 0 ? random.nextDouble() : load;
        Decision decision = limiter.tryAcquire("k");
        if (load >= 0.5) {
          underLoad.add(WindowChecker.Operation.at("k", 1, decision));
        } else {
          assertThat(decision.allowed()).isTrue();
        }
      }
      assertThat(WindowChecker.certainExcess(underLoad, WINDOW, bound)).isZero();
    }
  }

  @Test
  void elasticReservation_waitsForNothingInIdleTimes_andWhatItDidNotChargeIsNotGivenBack() {
    RateLimiter limiter = limiter(policy(2, Throttle.elastic(0.5)));
    assertThat(limiter.tryAcquire("k", 2).allowed()).isTrue();
    Reservation reservation = limiter.reserve("k", 1, Duration.ofHours(1));
    assertThat(reservation.granted()).isTrue();
    assertThat(reservation.waitNanos()).isZero();
    assertThat(reservation.cancel()).isFalse();
    load = 1;
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    assertThat(limiter.reserve("k", 1, Duration.ofHours(1)).waitNanos()).isEqualTo(WINDOW);
  }

  @Test
  void signalThatFails_knowsNoLoad() {
    Policy policy = policy(1, Throttle.elastic(0.5)).build();
    RateLimiter limiter =
        RateLimiter.builder(policy)
            .ticker(ticker)
            .load(
                () -> {
                  throw new IllegalStateException("no sensor");
                })
            .build();
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
    assertThat(limiter.tryAcquireAsync("k").toCompletableFuture().join().allowed()).isFalse();
  }

  @Test
  void elasticPolicyInIdleTimes_passesWhatTheStoreCannotDecide_andSaysWhy() {
    Policy policy = policy(3, Throttle.elastic(0.5)).build();
    Decision unknown = new Decision(false, Reason.UNCERTAIN, "default", 3, 0, 1_000, 0, 7);
    Decision told = policy.throttled(unknown, true);
    assertThat(told.allowed()).isTrue();
    assertThat(told.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(told.retryAfterNanos()).isZero();
    assertThat(policy.throttled(unknown, false)).isEqualTo(unknown);
    Decision invalid = new Decision(false, Reason.INVALID, "default", 3, 0, 0, 0, 7);
    assertThat(policy.throttled(invalid, true).allowed()).isFalse();
  }

  @Test
  void storeOfItsOwnChoice_holdsTheBoundToo() {
    RateLimiter limiter =
        RateLimiter.builder(policy(4, Throttle.soft(0.5)).name("p").build())
            .ticker(ticker)
            .store(new MemoryStore())
            .build();
    assertThat(limiter.tryAcquire("k", 6).reason()).isEqualTo(Reason.TOLERATED);
    assertThat(limiter.tryAcquireAsync("k").toCompletableFuture().join().allowed()).isFalse();
  }

  @Test
  void throttle_isChecked_andSaysWhatItIs() {
    assertThat(List.of(Throttle.HARD, Throttle.soft(0.05), Throttle.soft(0.333333)))
        .extracting(Throttle::toString)
        .containsExactly("hard", "soft 5%", "soft 33.3333%");
    assertThat(Throttle.elastic(1)).hasToString("elastic below 100%");
    assertThat(Throttle.soft(0.05)).isEqualTo(Throttle.soft(0.05)).isNotEqualTo(Throttle.HARD);
    for (double share : new double[] {0, -1, 1.01, 0.0000001, 0.01234567, Double.NaN}) {
      assertThatThrownBy(() -> Throttle.soft(share))
          .hasMessage("soft: " + share + " (expected: 0.000001..1, in whole millionths)");
    }
    for (double threshold : new double[] {0, -1, 1.01, Double.NaN}) {
      assertThatThrownBy(() -> Throttle.elastic(threshold))
          .hasMessage("elastic: " + threshold + " (expected: above 0, at most 1)");
    }
    Policy.Builder most = policy(Quota.MAX_PERMITS, Throttle.soft(0.1));
    assertThatThrownBy(most::build).hasMessageContaining("quota with what is tolerated: ");
  }
}
