package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.LimitExplanation;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of adaptive limits. */
class AdaptiveLimiterTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration WINDOW = Duration.ofSeconds(1);

  private final FakeTicker ticker = new FakeTicker(5_000_000_000L);

  private AdaptiveLimiter limiter(AdaptiveAlgorithm algorithm, int floor, int initial, int most) {
    return AdaptiveLimiter.builder()
        .algorithm(algorithm)
        .floor(floor)
        .initial(initial)
        .ceiling(most)
        .window(WINDOW)
        .ticker(ticker)
        .build();
  }

  private AdaptiveLimiter limiter(int initial) {
    return limiter(AdaptiveAlgorithm.AIMD, 1, initial, 100);
  }

  private static List<AdaptivePermit> take(AdaptiveLimiter limiter, int permits) {
    List<AdaptivePermit> taken = new ArrayList<>();
    for (int i = 0; i < permits; i++) {
      AdaptivePermit permit = limiter.tryAcquire();
      assertThat(permit.granted()).as("permit " + (i + 1)).isTrue();
      taken.add(permit);
    }
    return taken;
  }

  private static void assertFull(AdaptiveLimiter limiter) {
    assertThat(limiter.tryAcquire().granted()).isFalse();
  }

  /** Uses some permits for a latency, until at least ten requests have ended and so a window. */
  private void window(AdaptiveLimiter limiter, int out, Duration latency) {
    ticker.advance(Duration.ofMinutes(1));
    for (int done = 0; done < 10; done += out) {
      List<AdaptivePermit> permits = take(limiter, out);
      ticker.advance(latency);
      permits.forEach(permit -> assertThat(permit.end(RequestOutcome.SUCCEEDED)).isTrue());
    }
  }

  @Test
  void permits_upToTheLimit_areGranted() {
    AdaptiveLimiter limiter = limiter(3);
    List<AdaptivePermit> taken = take(limiter, 3);
    assertFull(limiter);
    assertThat(limiter.inFlight()).isEqualTo(3);
    assertThat(limiter.refusals()).isEqualTo(1);
    taken.get(0).close();
    assertThat(take(limiter, 1)).hasSize(1);
    assertFull(limiter);
  }

  @Test
  void permit_endsOnce() {
    AdaptiveLimiter limiter = limiter(3);
    AdaptivePermit permit = take(limiter, 3).get(0);
    assertThat(permit.hasEnded()).isFalse();
    assertThat(permit.end(RequestOutcome.SUCCEEDED)).isTrue();
    assertThat(permit.hasEnded()).isTrue();
    assertThat(permit.end(RequestOutcome.DROPPED)).isFalse();
    permit.close();
    assertThat(permit.record(RequestOutcome.DROPPED)).isFalse();
    assertThat(limiter.inFlight()).isEqualTo(2);
    assertThat(limiter.limit()).isEqualTo(3);
  }

  @Test
  void refusedPermit_doesNothing() {
    AdaptiveLimiter limiter = limiter(1);
    AdaptivePermit held = take(limiter, 1).get(0);
    AdaptivePermit refused = limiter.tryAcquire();
    assertThat(refused.hasEnded()).isTrue();
    assertThat(refused.record(RequestOutcome.DROPPED)).isFalse();
    assertThat(refused.end(RequestOutcome.DROPPED)).isFalse();
    refused.restart();
    refused.close();
    assertThat(limiter.inFlight()).isEqualTo(1);
    held.close();
    assertThat(limiter.inFlight()).isZero();
  }

  @Test
  void fallenLimit_takesNoneAwayAndGivesNoneUntilEnoughAreBack() {
    AdaptiveLimiter limiter = limiter(10);
    List<AdaptivePermit> taken = take(limiter, 10);
    assertThat(taken.get(0).record(RequestOutcome.DROPPED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(9);
    assertThat(limiter.inFlight()).isEqualTo(10);
    taken.get(0).close();
    assertFull(limiter);
    taken.get(1).close();
    assertThat(take(limiter, 1)).hasSize(1);
    assertFull(limiter);
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void drop_lowersTheLimitAtOnce(AdaptiveAlgorithm algorithm) {
    AdaptiveLimiter limiter = limiter(algorithm, 1, 20, 100);
    assertThat(take(limiter, 1).get(0).end(RequestOutcome.DROPPED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(18);
    assertThat(limiter.explain().reason())
        .isEqualTo("Lowered from 20 to 18, because a request was dropped.");
  }

  @Test
  void drops_ofOneCongestion_lowerTheLimitOnce() {
    AdaptiveLimiter limiter = limiter(20);
    List<AdaptivePermit> together = take(limiter, 18);
    assertThat(together.remove(0).end(RequestOutcome.DROPPED)).isTrue();
    ticker.advance(1);
    AdaptivePermit later = take(limiter, 1).get(0);
    assertThat(later.end(RequestOutcome.DROPPED)).isTrue(); // Within the window.
    ticker.advance(WINDOW.multipliedBy(5));
    together.forEach(permit -> assertThat(permit.end(RequestOutcome.DROPPED)).isTrue());
    assertThat(limiter.limit()).isEqualTo(18);
    assertThat(take(limiter, 1).get(0).end(RequestOutcome.DROPPED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(16); // It began after the window.
  }

  @Test
  void drops_atTheFloor_leaveIt() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.GRADIENT, 4, 6, 100);
    for (int i = 0; i < 10; i++) {
      ticker.advance(WINDOW);
      assertThat(take(limiter, 1).get(0).end(RequestOutcome.DROPPED)).isTrue();
      assertThat(limiter.limit()).isEqualTo(Math.max(4, 5 - i));
    }
  }

  @Test
  void slowSuccess_isDroppedFromItsLatencyOn() {
    AdaptiveLimiter limiter =
        AdaptiveLimiter.builder().droppedFrom(Duration.ofMillis(100)).ticker(ticker).build();
    AdaptivePermit fast = take(limiter, 1).get(0);
    AdaptivePermit slow = take(limiter, 1).get(0);
    ticker.advance(Duration.ofNanos(99_999_999));
    assertThat(fast.end(RequestOutcome.SUCCEEDED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(20);
    ticker.advance(Duration.ofNanos(1));
    assertThat(slow.end(RequestOutcome.SUCCEEDED)).isTrue();
    assertThat(limiter.limit()).isEqualTo(18);
  }

  @Test
  void ignoredRequests_teachNothing() {
    AdaptiveLimiter limiter = limiter(10);
    for (int i = 0; i < 100; i++) {
      List<AdaptivePermit> all = take(limiter, 10);
      ticker.advance(WINDOW);
      all.forEach(AdaptivePermit::close);
    }
    assertThat(limiter.limit()).isEqualTo(10);
    assertThat(limiter.explain().latencies().lastNanos()).isZero();
    assertThat(limiter.explain().reason())
        .isEqualTo("10, as it was set: no window of requests has used it yet.");
  }

  @ParameterizedTest
  @EnumSource(AdaptiveAlgorithm.class)
  void window_withLessThanHalfInUse_saysNothing(AdaptiveAlgorithm algorithm) {
    AdaptiveLimiter limiter = limiter(algorithm, 1, 20, 100);
    for (int i = 0; i < 10; i++) {
      window(limiter, 9, WINDOW);
    }
    assertThat(limiter.limit()).isEqualTo(20);
    window(limiter, 10, WINDOW);
    window(limiter, 10, WINDOW);
    assertThat(limiter.limit()).isGreaterThan(20);
  }

  @Test
  void latency_isThatToTheRecord() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.GRADIENT, 1, 10, 100);
    List<AdaptivePermit> streams = take(limiter, 10);
    ticker.advance(WINDOW);
    streams.forEach(stream -> assertThat(stream.record(RequestOutcome.SUCCEEDED)).isTrue());
    assertThat(limiter.inFlight()).isEqualTo(10);
    ticker.advance(Duration.ofHours(3));
    streams.forEach(stream -> assertThat(stream.end(RequestOutcome.SUCCEEDED)).isTrue());
    assertThat(limiter.inFlight()).isZero();
    assertThat(limiter.explain().latencies().lastNanos()).isEqualTo(WINDOW.toNanos());
  }

  @Test
  void latency_afterRestart_isWithoutTheTimeBefore() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.GRADIENT, 1, 10, 100);
    List<AdaptivePermit> all = take(limiter, 10);
    ticker.advance(Duration.ofHours(3));
    all.forEach(AdaptivePermit::restart);
    ticker.advance(WINDOW);
    all.forEach(permit -> assertThat(permit.end(RequestOutcome.SUCCEEDED)).isTrue());
    assertThat(limiter.explain().latencies().lastNanos()).isEqualTo(WINDOW.toNanos());
  }

  @Test
  void explanation_hasTheStateAndTheReason() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.GRADIENT, 1, 20, 100);
    window(limiter, 10, WINDOW);
    window(limiter, 10, WINDOW.multipliedBy(2));
    List<AdaptivePermit> held = take(limiter, 3);
    ticker.advance(WINDOW);
    LimitExplanation explained = limiter.explain();
    assertThat(explained.limit()).isEqualTo(21);
    assertThat(explained.inFlight()).isEqualTo(held.size());
    assertThat(explained.waiting()).isZero();
    assertThat(explained.sinceNanos()).isEqualTo(WINDOW.toNanos());
    assertThat(explained.latencies().lastNanos()).isEqualTo(2_000_000_000L);
    assertThat(explained.latencies().baseNanos()).isEqualTo(1_500_000_000L);
    assertThat(explained.latencies().gradient()).isEqualTo(1);
    assertThat(explained.reason())
        .isEqualTo(
            "Raised from 20 to 21, because it goes a fifth of the way to 24.5, which is 100 % of it"
                + " and 4.5 for a queue: the latency is 2000.000 ms, and 1500.000 ms in the long"
                + " run.");
  }

  @Test
  void measurement_halvesTheLimitAndRestoresIt() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.VEGAS, 1, 16, 16);
    for (int i = 0; i < 10; i++) {
      window(limiter, 10, WINDOW);
    }
    assertThat(limiter.limit()).isEqualTo(8);
    assertThat(limiter.explain().reason())
        .isEqualTo("Lowered from 16 to 8, because the latency without a queue is being measured.");
    window(limiter, 8, WINDOW.dividedBy(2)); // It falls, so a quarter is tried, too.
    assertThat(limiter.limit()).isEqualTo(4);
    window(limiter, 4, WINDOW.dividedBy(2));
    assertThat(limiter.limit()).isEqualTo(16);
    assertThat(limiter.explain().reason())
        .isEqualTo(
            "Raised from 4 to 16, because the latency without a queue is known: 500.000 ms.");
  }

  @Test
  void drop_duringAMeasurement_doesNotRaiseTheLimit() {
    AdaptiveLimiter limiter = limiter(AdaptiveAlgorithm.VEGAS, 1, 16, 16);
    for (int i = 0; i < 10; i++) {
      window(limiter, 10, WINDOW);
    }
    assertThat(limiter.limit()).isEqualTo(8);
    for (int i = 0; i < 10; i++) {
      ticker.advance(Duration.ofMinutes(1));
      assertThat(take(limiter, 1).get(0).end(RequestOutcome.DROPPED)).isTrue();
      assertThat(limiter.limit())
          .isEqualTo(Math.min(8, new int[] {14, 12, 11, 10, 9, 8, 7, 6, 5, 4}[i]));
    }
    window(limiter, 4, WINDOW); // The measurement ends at last.
    assertThat(limiter.limit()).isEqualTo(4);
    window(limiter, 4, WINDOW);
    assertThat(limiter.limit()).isEqualTo(5);
  }

  @Test
  void waiters_haveTheirTurnInOrder() {
    AdaptiveLimiter limiter = limiter(1);
    AdaptivePermit held = take(limiter, 1).get(0);
    List<CompletableFuture<AdaptivePermit>> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiters.add(limiter.acquireAsync(LONG));
    }
    assertThat(limiter.waiting()).isEqualTo(5);
    for (CompletableFuture<AdaptivePermit> next : waiters) {
      assertThat(waiters.stream().filter(each -> !each.isDone()).findFirst()).hasValue(next);
      held.close();
      assertFull(limiter);
      held = next.join();
      assertThat(held.granted()).isTrue();
    }
    held.close();
    assertThat(limiter.inFlight()).isZero();
    assertThat(ticker.scheduled()).isZero();
  }

  @Test
  void waiters_areGrantedWhenTheLimitRises() {
    AdaptiveLimiter limiter = limiter(2);
    List<CompletableFuture<AdaptivePermit>> waiters = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      waiters.add(limiter.acquireAsync(LONG));
    }
    ticker.advance(WINDOW);
    // Of a window of four successes the last one raises the limit to 3.
    for (int i = 0; i < 4; i++) {
      assertThat(waiters.get(i).join().end(RequestOutcome.SUCCEEDED)).isTrue();
    }
    assertThat(limiter.limit()).isEqualTo(3);
    assertThat(limiter.inFlight()).isEqualTo(3);
    assertThat(waiters.stream().filter(CompletableFuture::isDone)).hasSize(4 + 3);
  }

  @Test
  void waiter_afterItsTimeout_isRefused() {
    AdaptiveLimiter limiter = limiter(1);
    AdaptivePermit held = take(limiter, 1).get(0);
    CompletableFuture<AdaptivePermit> first = limiter.acquireAsync(Duration.ofSeconds(1));
    CompletableFuture<AdaptivePermit> second = limiter.acquireAsync(Duration.ofSeconds(3));
    assertThat(limiter.acquireAsync(Duration.ZERO).join().granted()).isFalse();
    ticker.advance(Duration.ofSeconds(2));
    assertThat(first.join().granted()).isFalse();
    held.close();
    assertThat(second.join().granted()).isTrue();
    assertThat(limiter.refusals()).isEqualTo(2);
    assertThat(ticker.scheduled()).isZero();
  }

  @Test
  void waiter_cancelled_leavesItsPlaceToTheNext() {
    AdaptiveLimiter limiter = limiter(1);
    AdaptivePermit held = take(limiter, 1).get(0);
    CompletableFuture<AdaptivePermit> first = limiter.acquireAsync(LONG);
    CompletableFuture<AdaptivePermit> second = limiter.acquireAsync(LONG);
    assertThat(first.cancel(false)).isTrue();
    assertThat(limiter.waiting()).isEqualTo(1);
    held.close();
    assertThat(second.join().granted()).isTrue();
    second.join().close();
    assertThat(limiter.inFlight()).isZero();
  }

  @Test
  void waiters_beyondTheBound_areRefused() {
    AdaptiveLimiter limiter =
        AdaptiveLimiter.builder().initial(1).maxWaiting(2).ticker(ticker).build();
    AdaptivePermit held = take(limiter, 1).get(0);
    CompletableFuture<AdaptivePermit> first = limiter.acquireAsync(LONG);
    CompletableFuture<AdaptivePermit> second = limiter.acquireAsync(LONG);
    assertThat(limiter.acquireAsync(LONG).join().granted()).isFalse();
    held.close();
    assertThat(first).isDone();
    assertThat(second).isNotDone();
  }

  @Test
  void waiters_thatEndAtOnce_keepTheStackShort() {
    AdaptiveLimiter limiter =
        AdaptiveLimiter.builder().initial(1).maxWaiting(10_000).ticker(ticker).build();
    AdaptivePermit held = take(limiter, 1).get(0);
    AtomicInteger granted = new AtomicInteger();
    for (int i = 0; i < 10_000; i++) {
      CompletableFuture<Void> unused =
          limiter
              .acquireAsync(LONG)
              .thenAccept(
                  permit -> {
                    granted.incrementAndGet();
                    permit.close();
                  });
    }
    held.close();
    assertThat(granted).hasValue(10_000);
    assertThat(limiter.inFlight()).isZero();
  }

  @Test
  void interruptedWaiter_leaves() {
    AdaptiveLimiter limiter = limiter(1);
    AdaptivePermit held = take(limiter, 1).get(0);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> limiter.acquire(LONG)).isInstanceOf(InterruptedException.class);
    assertThat(limiter.waiting()).isZero();
    held.close();
    assertThat(limiter.inFlight()).isZero();
  }

  @Test
  void manyThreads_haveNeverMoreThanTheCeiling() throws Exception {
    int threads = 8;
    int runs = 10;
    SplittableRandom random = Trials.random("adaptive limiter, threads", runs);
    for (int run = 0; run < runs; run++) {
      int most = 1 + random.nextInt(4);
      AdaptiveLimiter limiter =
          AdaptiveLimiter.builder()
              .algorithm(List.of(AdaptiveAlgorithm.values()).get(random.nextInt(3)))
              .initial(most)
              .ceiling(most)
              .window(Duration.ofMillis(1))
              .build();
      AtomicInteger out = new AtomicInteger();
      AtomicInteger served = new AtomicInteger();
      CyclicBarrier start = new CyclicBarrier(threads);
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        SplittableRandom own = random.split();
        all.add(CompletableFuture.runAsync(() -> use(limiter, own, start, out, served, most)));
      }
      for (CompletableFuture<Void> each : all) {
        each.get(1, TimeUnit.MINUTES);
      }
      assertThat(served).hasValueGreaterThan(0);
      assertThat(limiter.inFlight()).isZero();
      assertThat(limiter.waiting()).isZero();
      assertThat(limiter.limit()).isBetween(1, most);
    }
  }

  private static void use(
      AdaptiveLimiter limiter,
      SplittableRandom random,
      CyclicBarrier start,
      AtomicInteger out,
      AtomicInteger served,
      int most) {
    try {
      start.await();
      for (int i = 0; i < 200; i++) {
        boolean waits = random.nextBoolean();
        try (AdaptivePermit permit = waits ? limiter.acquire(LONG) : limiter.tryAcquire()) {
          assertThat(permit.granted() || !waits).isTrue();
          if (permit.granted()) {
            assertThat(out.incrementAndGet()).isLessThanOrEqualTo(most);
            served.incrementAndGet();
            RequestOutcome outcome = List.of(RequestOutcome.values()).get(random.nextInt(3));
            boolean early = random.nextBoolean() && permit.record(outcome);
            out.decrementAndGet();
            assertThat(permit.end(early ? RequestOutcome.IGNORED : outcome)).isTrue();
          }
        }
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void settings_outOfRange_areNamed() {
    AdaptiveLimiter.Builder builder = AdaptiveLimiter.builder();
    assertThatThrownBy(() -> builder.floor(0)).hasMessage("floor: 0 (expected: 1..1000000)");
    assertThatThrownBy(() -> builder.ceiling(1_000_001))
        .hasMessage("ceiling: 1000001 (expected: 1..1000000)");
    assertThatThrownBy(() -> builder.tolerance(Double.NaN))
        .hasMessage("tolerance: NaN (expected: 1 to 10)");
    assertThatThrownBy(() -> builder.window(Duration.ZERO))
        .hasMessage("window: PT0S (expected: 1 ms to 1 hour)");
    assertThatThrownBy(() -> builder.maxWaiting(-1))
        .hasMessage("maxWaiting: -1 (expected: 0..1000000)");
    assertThatThrownBy(() -> builder.floor(30).ceiling(20).build())
        .hasMessage("floor: 30 (expected: at most the ceiling, 20)");
    assertThatThrownBy(() -> builder.ceiling(40).initial(20).build())
        .hasMessage("initial: 20 (expected: 30..40)");
  }

  @Test
  void firstLimit_withoutOne_isTheNearestTo20() {
    assertThat(AdaptiveLimiter.builder().build().limit()).isEqualTo(20);
    assertThat(AdaptiveLimiter.builder().floor(30).build().limit()).isEqualTo(30);
    assertThat(AdaptiveLimiter.builder().ceiling(10).build().limit()).isEqualTo(10);
  }
}
