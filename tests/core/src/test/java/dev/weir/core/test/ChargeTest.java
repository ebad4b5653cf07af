package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.SingleLimiter;
import dev.weir.Store;
import dev.weir.Throttle;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Costs that a program reports to its limiter. */
class ChargeTest {
  private final FakeTicker ticker = new FakeTicker();

  private static Policy policy(Algorithm algorithm, long permits, Duration window) {
    return Policy.builder(Quota.of(permits, window)).algorithm(algorithm).name("limit").build();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void charge_countsWhateverIsLeft_andTheKeyIsFreeAfterItsRetryAfter(Algorithm algorithm) {
    RateLimiter limiter =
        RateLimiter.builder(policy(algorithm, 1_000, Duration.ofHours(1))).ticker(ticker).build();
    Decision first = limiter.charge("team", 900);
    assertThat(first.allowed()).isTrue();
    assertThat(first.remaining()).isEqualTo(100);
    Decision debt = limiter.charge("team", 300);
    assertThat(debt.allowed()).isFalse();
    assertThat(debt.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(debt.remaining()).isEqualTo(-200);
    assertThat(limiter.tryAcquire("team").allowed()).isFalse();
    ticker.advance(Duration.ofNanos(debt.retryAfterNanos() - 1));
    assertThat(limiter.charge("team", 0).allowed()).isFalse();
    ticker.advance(Duration.ofNanos(1));
    assertThat(limiter.charge("team", 0).allowed()).isTrue();
    assertThat(limiter.tryAcquire("team").allowed()).isTrue();
  }

  /** A store that is not known to be in this process. */
  private static final class Distant extends ForwardingStore<Store> {
    Distant() {
      super(new MemoryStore());
    }
  }

  @Test
  void everyForm_countsTheSame() throws Exception {
    for (Store store : new Store[] {new MemoryStore(), new Distant()}) {
      Policy hourly = policy(Algorithm.SLIDING_WINDOW_LOG, 10, Duration.ofHours(1));
      RateLimiter limiter = RateLimiter.builder(hourly).store(store).ticker(ticker).build();
      SingleLimiter single = limiter.forKey("k");
      assertThat(limiter.charge("k", 3).remaining()).isEqualTo(7);
      assertThat(limiter.chargeAsync("k", 2).get().remaining()).isEqualTo(5);
      assertThat(single.charge(2).remaining()).isEqualTo(3);
      assertThat(single.chargeAsync(1).get().remaining()).isEqualTo(2);
      assertThat(PackedDecision.remaining(limiter.packed().charge("k", 2))).isZero();
      long debt = limiter.packed().charge("k", 5);
      assertThat(PackedDecision.allowed(debt)).isFalse();
      assertThat(PackedDecision.retryAfterNanos(debt)).isEqualTo(Duration.ofHours(1).toNanos());
      assertThat(limiter.charge("k", 1).remaining()).isEqualTo(-6);
      assertThatThrownBy(() -> limiter.charge("k", -1))
          .hasMessageContaining("permits: -1 (expected: 0..");
    }
  }

  @Test
  void severalPolicies_allCount_andAnyDebtRefuses() {
    Policy minute =
        Policy.builder(Quota.perMinute(100))
            .name("minute")
            .algorithm(Algorithm.TOKEN_BUCKET)
            .build();
    Policy day = Policy.builder(Quota.perDay(1_000)).name("day").build();
    RateLimiter limiter = RateLimiter.builder(minute, day).ticker(ticker).build();
    Decision charged = limiter.charge("k", 130);
    assertThat(charged.allowed()).isFalse();
    assertThat(charged.policy()).isEqualTo("minute");
    assertThat(charged.remaining()).isEqualTo(-30);
    assertThat(charged.parts()).extracting(Decision::remaining).containsExactly(-30L, 870L);
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    ticker.advance(Duration.ofMinutes(1));
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
  }

  @Test
  void softPolicy_toleratesBeforeItOwes() {
    Policy soft =
        Policy.builder(Quota.perHour(100)).throttle(Throttle.soft(0.1)).name("soft").build();
    RateLimiter limiter = RateLimiter.builder(soft).ticker(ticker).build();
    Decision tolerated = limiter.charge("k", 105);
    assertThat(tolerated.allowed()).isTrue();
    assertThat(tolerated.reason()).isEqualTo(Reason.TOLERATED);
    assertThat(tolerated.remaining()).isZero();
    Decision debt = limiter.charge("k", 10);
    assertThat(debt.allowed()).isFalse();
    assertThat(debt.remaining()).isEqualTo(-5);
  }

  @Test
  void debts_outliveAChangeOfTheLimitAndOfTheAlgorithm() {
    Policy log = Policy.builder(Quota.perHour(100)).name("limit").build();
    RateLimiter limiter = RateLimiter.builder(log).ticker(ticker).build();
    limiter.charge("k", 250);
    limiter.replace(
        Policy.builder(Quota.perHour(200))
            .name("limit")
            .algorithm(Algorithm.SLIDING_WINDOW_BUCKETS)
            .build());
    assertThat(limiter.charge("k", 0).allowed()).isFalse();
    assertThat(limiter.charge("k", 1).remaining()).isEqualTo(-51);
  }

  @Test
  void report_isHeardByTheListener() {
    RateLimiter limiter = RateLimiter.builder(Quota.perHour(10)).ticker(ticker).build();
    List<String> heard = new ArrayList<>();
    limiter.listen(
        (policy, allowed, reason, permits) -> heard.add(allowed + " " + reason + " " + permits));
    limiter.charge("k", 8);
    long unused = limiter.packed().charge("k", 8);
    assertThat(heard).containsExactly("true WITHIN_LIMIT 8", "false OVER_LIMIT 8");
  }
}
