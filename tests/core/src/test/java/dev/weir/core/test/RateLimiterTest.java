package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The limiter that is created from two numbers, and the checks of its arguments. */
class RateLimiterTest {
  @Test
  void threePerTenSeconds_asATable() {
    RateLimiter limiter = new RateLimiter(3, 10_000);
    record Row(String user, long at, boolean allowed) {}
    List<Row> rows =
        List.of(
            new Row("A", 0, true),
            new Row("A", 1_000, true),
            new Row("A", 2_000, true),
            new Row("A", 3_000, false),
            new Row("B", 3_000, true),
            new Row("B", 3_000, true),
            new Row("A", 9_999, false),
            new Row("B", 3_000, true),
            new Row("B", 3_000, false),
            // The request at 0 is not later than 10,000 - 10,000; the refused ones never counted.
            new Row("A", 10_000, true),
            new Row("A", 10_999, false),
            new Row("A", 11_000, true),
            new Row("A", 11_999, false),
            new Row("A", 12_000, true),
            new Row("B", 12_999, false),
            new Row("B", 13_000, true));
    for (Row row : rows) {
      assertThat(limiter.allow(row.user(), row.at())).as("%s", row).isEqualTo(row.allowed());
    }
  }

  @Test
  void fourthRequest_isRefused_andPassesWhenTheFirstHasExpired() {
    RateLimiter limiter = new RateLimiter(3, 10_000);
    assertThat(limiter.allow("A", 0)).isTrue();
    assertThat(limiter.allow("A", 1_000)).isTrue();
    assertThat(limiter.allow("A", 2_000)).isTrue();
    assertThat(limiter.allow("A", 3_000)).isFalse();
    assertThat(limiter.allow("A", 11_000)).isTrue();
  }

  @Test
  void randomUsersAndTimes_agreeWithAPlainList() {
    int runs = 100;
    SplittableRandom random = Trials.random("randomUsersAndTimes", runs);
    for (int trial = 0; trial < runs; trial++) {
      int max = random.nextInt(0, 8);
      long window = random.nextLong(1, 50);
      RateLimiter limiter = new RateLimiter(max, window);
      List<List<Long>> admitted = List.of(new ArrayList<>(), new ArrayList<>());
      long now = random.nextLong(-1_000, 1_000);
      for (int i = 0; i < 300; i++) {
        now += random.nextLong(0, 8);
        List<Long> mine = admitted.get(random.nextInt(2));
        long at = now;
        boolean right = mine.stream().filter(each -> each > at - window).count() < max;
        assertThat(limiter.allow(mine == admitted.get(0) ? "a" : "b", at)).isEqualTo(right);
        if (right) {
          mine.add(at);
        }
      }
    }
  }

  @Test
  void badArguments_areNamedWithWhatWasExpected() {
    assertThatThrownBy(() -> new RateLimiter(-1, 1))
        .hasMessage("maxRequests: -1 (expected: 0..2147483647)");
    assertThatThrownBy(() -> new RateLimiter(1, 0))
        .hasMessage("windowMillis: 0 (expected: 1..31622400000)");
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(1));
    assertThatThrownBy(() -> limiter.tryAcquire("k", -1)).hasMessageStartingWith("permits: -1 (");
    assertThatThrownBy(() -> limiter.peek("k", -1)).hasMessageStartingWith("permits: -1 (");
    assertThatThrownBy(() -> new RateLimiter(1, 1).allow("k", Long.MAX_VALUE))
        .hasMessageStartingWith("timestampMillis: 9223372036854775807 (");
    assertThatThrownBy(
            () ->
                Policy.builder(Quota.perSecond(1))
                    .algorithm(Algorithm.FIXED_WINDOW)
                    .burst(2)
                    .build())
        .hasMessageContaining("burst: 2");
  }

  @Test
  void logWithTheLargestLimit_doesNotAllocateForIt() {
    Policy policy =
        Policy.builder(new Quota(Quota.MAX_PERMITS, Quota.MAX_WINDOW_NANOS))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter = RateLimiter.builder(policy).ticker(ticker).build();
    long before = allocated();
    for (int i = 0; i < 100; i++) {
      assertThat(limiter.tryAcquire("k", 1_000_000).allowed()).isTrue();
      ticker.advance(1);
    }
    assertThat(allocated() - before).isLessThan(4 << 20);
  }

  private static long allocated() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  @Test
  void logPastItsMostEntries_staysBoundedAndStillNeverExceedsItsLimit() {
    int limit = 2_000_000;
    Policy policy =
        Policy.builder(Quota.perDay(limit)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter = RateLimiter.builder(policy).ticker(ticker).build();
    int admitted = 0;
    for (int i = 0; i < limit + 10; i++) {
      admitted += limiter.tryAcquire("k").allowed() ? 1 : 0;
      ticker.advance(1);
    }
    assertThat(admitted).isEqualTo(limit);
    Decision refused = limiter.tryAcquire("k");
    assertThat(refused.retryAfterNanos()).isPositive();
    ticker.advance(refused.retryAfterNanos() - 1);
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    ticker.advance(1);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
  }
}
