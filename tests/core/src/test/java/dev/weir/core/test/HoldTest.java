package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Hold;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.StoreFixture;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits that are held, and settled by what a request did cost. */
class HoldTest {
  private static final long LIMIT = 1_000;
  private final FakeTicker ticker = new FakeTicker();

  private RateLimiter limiter(Algorithm algorithm) {
    Policy policy =
        Policy.builder(Quota.perHour(LIMIT)).algorithm(algorithm).name("tokens").build();
    return RateLimiter.builder(policy).ticker(ticker).build();
  }

  private static long left(RateLimiter limiter) {
    return limiter.charge("team", 0).remaining();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void settlement_givesBackWhatIsLess_andCountsWhatIsMore(Algorithm algorithm) {
    RateLimiter limiter = limiter(algorithm);
    Hold first = limiter.hold("team", 600);
    assertThat(first.granted()).isTrue();
    assertThat(first.permits()).isEqualTo(600);
    assertThat(limiter.hold("team", 600).granted()).isFalse();
    assertThat(first.settle(200)).isEqualTo(400);
    assertThat(left(limiter)).isEqualTo(800);
    assertThat(first.settle(100)).isZero(); // The first settlement counts.
    assertThat(first.settle(300)).isEqualTo(-100); // A larger one counts the difference.
    assertThat(left(limiter)).isEqualTo(700);

    Hold second = limiter.hold("team", 700);
    assertThat(second.settle(950)).isEqualTo(-250);
    assertThat(limiter.charge("team", 0).allowed()).isFalse();
    assertThat(limiter.hold("team", 1).granted()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void releasedHold_costsNothing_andOneThatIsForgottenItsMost(Algorithm algorithm) {
    RateLimiter limiter = limiter(algorithm);
    assertThat(limiter.hold("team", 900).release()).isEqualTo(900);
    assertThat(limiter.hold("team", 900).granted()).isTrue();
    assertThat(limiter.hold("team", 200).granted()).isFalse();
  }

  @Test
  void refusedHold_isSettledByTheWholeCost() {
    RateLimiter limiter = limiter(Algorithm.SLIDING_WINDOW_LOG);
    Hold refused = limiter.hold("team", LIMIT + 1);
    assertThat(refused.granted()).isFalse();
    assertThat(refused.permits()).isZero();
    assertThat(refused.settle(30)).isEqualTo(-30);
    assertThat(left(limiter)).isEqualTo(LIMIT - 30);
    assertThatThrownBy(() -> refused.settle(-1)).hasMessageContaining("cost: -1 (expected: 0..");
  }

  @Test
  void settlementAfterTheWindow_givesNothingBack_andCountsWhatIsMore() {
    RateLimiter limiter = limiter(Algorithm.SLIDING_WINDOW_LOG);
    Hold less = limiter.hold("team", 400);
    Hold more = limiter.hold("team", 400);
    ticker.advance(Duration.ofHours(2));
    assertThat(less.settle(100)).isZero();
    assertThat(left(limiter)).isEqualTo(LIMIT);
    assertThat(more.settle(500)).isEqualTo(-100);
    assertThat(left(limiter)).isEqualTo(LIMIT - 100);
  }

  @Test
  void manyThreadsThatSettleOneHold_countTheLargestCost() throws Exception {
    for (int round = 0; round < 200; round++) {
      RateLimiter limiter = limiter(Algorithm.SLIDING_WINDOW_LOG);
      Hold hold = limiter.hold("team", 500);
      StoreFixture.inParallel(4, thread -> hold.settle(100 + 200L * thread));
      assertThat(left(limiter)).isEqualTo(LIMIT - 700);
    }
  }

  /** A request that runs. */
  private record Running(Hold hold, long most) {}

  @Test
  void requestsThatCostAtMostWhatTheyHold_neverSpendMoreThanTheLimit() {
    for (Algorithm algorithm :
        List.of(Algorithm.SLIDING_WINDOW_LOG, Algorithm.SLIDING_WINDOW_BUCKETS)) {
      SplittableRandom seeds = Trials.random("holds, " + algorithm, 100);
      for (int trial = 0; trial < 100; trial++) {
        long seed = seeds.nextLong();
        SplittableRandom random = new SplittableRandom(seed);
        RateLimiter limiter = limiter(algorithm);
        List<Running> running = new ArrayList<>();
        long used = 0;
        for (int step = 0; step < 300; step++) {
          ticker.advance(random.nextInt(1_000_000)); // All of it within a window.
          if (running.isEmpty() || random.nextBoolean()) {
            long most = 1 + random.nextLong(400);
            Hold hold = limiter.hold("team", most);
            boolean fits = used + most <= LIMIT;
            assertThat(hold.granted()).as("%s, seed %d", algorithm, seed).isEqualTo(fits);
            if (fits) {
              running.add(new Running(hold, most));
              used += most;
            }
          } else {
            Running ends = running.remove(random.nextInt(running.size()));
            long cost = random.nextLong(ends.most() + 1);
            assertThat(ends.hold().settle(cost)).isEqualTo(ends.most() - cost);
            used -= ends.most() - cost;
          }
          assertThat(left(limiter)).as("%s, seed %d", algorithm, seed).isEqualTo(LIMIT - used);
        }
      }
    }
  }

  /**
   * A team of 100 tokens a minute and requests that all come at once, of which each may use 150:
   * limiters that count only afterwards let 663 pass.
   */
  @Test
  void requestsAtOnce_neverUseMoreThanTheBudget() {
    Policy policy = Policy.builder(Quota.perMinute(100)).name("team").build();
    RateLimiter limiter = RateLimiter.builder(policy).ticker(ticker).build();
    long used = 0;
    for (int request = 0; request < 5; request++) {
      Hold hold = limiter.hold("team", 40);
      if (hold.granted()) {
        used += 33;
        hold.settle(33);
      }
    }
    assertThat(used).isEqualTo(66);
    assertThat(limiter.hold("team", 150).decision().retryable()).isFalse(); // It can never fit.
  }
}
