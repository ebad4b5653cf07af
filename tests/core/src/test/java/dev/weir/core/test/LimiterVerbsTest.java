package dev.weir.core.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.SingleLimiter;
import dev.weir.Store;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.StoreFixture;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The methods of limiters besides {@code tryAcquire}, and the housekeeping that a limiter does by
 * itself.
 */
class LimiterVerbsTest {
  private static final long SECOND = 1_000_000_000L;

  private final FakeTicker ticker = new FakeTicker();

  private RateLimiter limiter(long permitsPerSecond) {
    return RateLimiter.builder(Quota.perSecond(permitsPerSecond)).ticker(ticker).build();
  }

  /** A store that answers by callback only. */
  private static final class Distant extends ForwardingStore<Store> {
    Distant() {
      super(new MemoryStore());
    }
  }

  @Test
  void acquireAsync_comesInOrder_eachAtItsInstant() {
    RateLimiter limiter = limiter(1);
    List<Integer> order = new ArrayList<>();
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int number = i;
      all.add(limiter.acquireAsync("k").thenRun(() -> order.add(number)));
    }
    assertThat(order).containsExactly(0);
    ticker.advance(SECOND);
    assertThat(order).containsExactly(0, 1);
    ticker.advance(SECOND);
    assertThat(order).containsExactly(0, 1, 2);
    assertThat(all).allMatch(CompletableFuture::isDone);
  }

  @Test
  void acquireAsync_cancelled_givesItsPermitsBack() {
    RateLimiter far =
        RateLimiter.builder(Quota.perSecond(1))
            .ticker(ticker)
            .store(new Distant())
            .name("n")
            .build();
    for (RateLimiter limiter : List.of(limiter(1), far)) {
      limiter.tryAcquire("k");
      CompletableFuture<Decision> waiting = limiter.acquireAsync("k");
      assertThat(limiter.acquireAsync("k", Duration.ofSeconds(1)).join().allowed()).isFalse();
      int scheduled = ticker.scheduled();
      assertThat(waiting.cancel(false)).isTrue();
      assertThat(ticker.scheduled()).as("no timer is left behind").isEqualTo(scheduled - 1);
      CompletableFuture<Decision> next = limiter.acquireAsync("k", Duration.ofSeconds(1));
      assertThat(next).isNotDone();
      ticker.advance(SECOND);
      assertThat(next.join().allowed()).isTrue();
      ticker.advance(60 * SECOND);
      assertThat(limiter.acquireAsync("k", 2, Duration.ofDays(1)).join().retryable()).isFalse();
    }
  }

  @Test
  void acquire_withoutATimeout_waits_andIsRefusedOnlyIfItNeverFits() throws InterruptedException {
    RateLimiter limiter = limiter(1);
    for (int i = 0; i < 5; i++) {
      assertThat(limiter.acquire("k").allowed()).isTrue();
    }
    assertThat(ticker.nanos()).isEqualTo(4 * SECOND);
    assertThat(limiter(0).acquire("k").allowed()).isFalse();
  }

  @Test
  void acquire_interrupted_givesItsPermitsBack() throws InterruptedException {
    RateLimiter limiter = limiter(1);
    limiter.tryAcquire("k");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> limiter.acquire("k")).isInstanceOf(InterruptedException.class);
    ticker.advance(SECOND);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
  }

  @Test
  void upTo_takesWhatThereIs_byEveryAlgorithm() {
    for (Algorithm algorithm : Algorithm.values()) {
      Policy policy = Policy.builder(Quota.perMinute(10)).algorithm(algorithm).build();
      RateLimiter limiter = RateLimiter.builder(policy).ticker(ticker).build();
      limiter.tryAcquire("k", 3);
      assertThat(limiter.tryAcquireUpTo("k", 0)).isZero();
      assertThat(limiter.tryAcquireUpTo("k", 5)).as("%s", algorithm).isEqualTo(5);
      assertThat(limiter.tryAcquireUpTo("k", 100)).as("%s", algorithm).isEqualTo(2);
      assertThat(limiter.tryAcquireUpTo("k", 100)).isZero();
    }
  }

  @Test
  void upTo_ofManyThreads_takesAllAndNeverTooMany() throws Exception {
    for (int round = 0; round < 100; round++) {
      RateLimiter limiter = limiter(1_000);
      AtomicLong taken = new AtomicLong();
      StoreFixture.inParallel(
          4,
          thread -> {
            for (int i = 0; i < 100; i++) {
              taken.addAndGet(limiter.tryAcquireUpTo("k", 3 + thread));
            }
          });
      assertThat(taken.get()).isEqualTo(1_000);
    }
  }

  @Test
  void singleLimiter_needsNoKey_andKeysOfOtherKindsAreKeys() throws InterruptedException {
    SingleLimiter single = RateLimiter.builder(Quota.perSecond(2)).ticker(ticker).buildSingle();
    assertThat(single.tryAcquire(2).allowed()).isTrue();
    assertThat(single.tryAcquire().allowed()).isFalse();
    assertThat(single.acquire().allowed()).isTrue();
    assertThat(single.reset()).isTrue();
    single.replace(Quota.perSecond(3));
    assertThat(single.tryAcquireUpTo(9)).isEqualTo(3);
    assertThat(SingleLimiter.of(Quota.perSecond(1)).tryAcquire().allowed()).isTrue();

    RateLimiter limiter = limiter(1);
    assertThat(limiter.forKey("é".getBytes(UTF_8)).tryAcquire().allowed()).isTrue();
    assertThat(limiter.tryAcquire("é").allowed()).as("the text of these bytes").isFalse();
    assertThat(limiter.forKey("ab", "c").tryAcquire().allowed()).isTrue();
    assertThat(limiter.forKey("a", "bc").tryAcquire().allowed()).isTrue();
    assertThat(limiter.tryAcquire("abc").allowed()).isTrue();
    assertThat(limiter.forKey(7).tryAcquire().allowed()).isTrue();
    assertThat(limiter.tryAcquire("7").allowed()).isTrue();
    assertThat(limiter.forKey("7").tryAcquire().allowed()).isFalse();
    assertThat(limiter.packed().decide(7, 1)).isNegative();
  }

  @Test
  void timestampsAndTicker_areNotMixedOnOneLimiter() {
    assertThatThrownBy(() -> limiter(1).allow("k", 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("limiter: with a ticker (");
    RateLimiter two = new RateLimiter(1, 1_000);
    assertThatThrownBy(() -> two.tryAcquire("k"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("ticker: none (");
    assertThat(two.allow("k", 0)).isTrue();
  }

  @Test
  void memory_isGivenBackByItself_alsoWhenNothingIsAskedAnyMore() {
    RateLimiter limiter = limiter(1);
    for (int i = 0; i < 20_000; i++) {
      limiter.tryAcquire("user " + i);
    }
    assertThat(limiter.keys()).isEqualTo(20_000);
    long bytes = limiter.store().bytes();
    for (int i = 0; i < 20; i++) {
      ticker.advance(Duration.ofSeconds(10));
    }
    assertThat(limiter.keys()).isZero();
    assertThat(limiter.store().bytes()).isLessThan(bytes / 10);
    limiter.tryAcquire("k");
    ticker.set(ticker.nanos() + 9 * SECOND);
    for (int i = 0; i < 16; i++) {
      limiter.expire();
    }
    assertThat(limiter.keys()).as("or at once, by the caller").isZero();
  }

  @Test
  void listener_hearsEachRequestOnce_andItsFailureIsNotTheCallers() {
    List<String> heard = new ArrayList<>();
    RateLimiter limiter =
        RateLimiter.builder(Quota.perSecond(2), Quota.perMinute(9))
            .ticker(ticker)
            .listener(
                (policy, allowed, reason, permits) -> {
                  heard.add(policy + " " + allowed + " " + permits);
                  throw new IllegalStateException("no room for counters");
                })
            .build();
    limiter.listen((policy, allowed, reason, permits) -> heard.add("and " + reason));
    limiter.tryAcquire("k", 2);
    limiter.peek("k");
    limiter.tryAcquireUpTo("k", 4);
    limiter.packed().decide("k", 1);
    assertThat(heard)
        .containsExactly(
            "default true 2",
            "and WITHIN_LIMIT",
            "default false 4",
            "and OVER_LIMIT",
            "default false 1",
            "and OVER_LIMIT");
  }

  @Test
  void packedDecisions_allocateNothing_alsoOverSeveralPoliciesAndWithAListener() {
    AtomicLong heard = new AtomicLong();
    for (boolean several : new boolean[] {false, true}) {
      RateLimiter limiter =
          several
              ? RateLimiter.builder(Quota.perMinute(100), Quota.perHour(9_000))
                  .ticker(ticker)
                  .listener((policy, allowed, reason, permits) -> heard.addAndGet(permits))
                  .build()
              : RateLimiter.builder(Quota.perMinute(100)).ticker(ticker).build();
      PackedLimiter packed = limiter.packed();
      for (int i = 0; i < 20_000; i++) {
        packed.decide(7, 1);
      }
      var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long id = Thread.currentThread().getId();
      threads.getThreadAllocatedBytes(id);
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < 10_000; i++) {
        packed.decide(7, 1);
      }
      assertThat(threads.getThreadAllocatedBytes(id) - before)
          .as("several: %s", several)
          .isLessThan(10_000);
    }
    assertThat(heard).hasPositiveValue();
  }
}
