package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Seat;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.StoreFixture;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests of requests that wait for seats. */
class SeatQueueTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Duration HOLD = Duration.ofHours(1);
  private static final Duration LONG = Duration.ofMinutes(10);

  private final FakeTicker ticker = new FakeTicker(5 * SECOND);

  /** The tasks of a limiter without waiters. */
  private int idleTasks;

  private static Policy seats(long permits) {
    return Policy.concurrency(permits, HOLD).name("s").build();
  }

  private RateLimiter limiter(long permits) {
    RateLimiter limiter = RateLimiter.builder(seats(permits)).ticker(ticker).build();
    idleTasks = ticker.scheduled();
    return limiter;
  }

  private void assertNothingWaits() {
    assertThat(ticker.scheduled()).as("tasks").isEqualTo(idleTasks);
  }

  @Test
  void waiters_haveTheirTurnInOrder() {
    RateLimiter limiter = limiter(1);
    Seat held = limiter.seat("k");
    List<CompletableFuture<Seat>> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiters.add(limiter.seatAsync("k", 1, LONG));
    }
    for (CompletableFuture<Seat> next : waiters) {
      assertThat(waiters.stream().filter(each -> !each.isDone()).findFirst()).hasValue(next);
      assertThat(held.release()).isTrue();
      assertThat(next).isDone();
      held = next.join();
      assertThat(held.isHeld()).isTrue();
      assertThat(limiter.seat("k").granted()).isFalse();
    }
    held.close();
    assertNothingWaits();
  }

  @Test
  void waiterOfMorePermits_isNotOvertakenByOneOfFewer() {
    RateLimiter limiter = limiter(3);
    Seat one = limiter.seat("k", 1);
    Seat two = limiter.seat("k", 2);
    CompletableFuture<Seat> three = limiter.seatAsync("k", 3, LONG);
    CompletableFuture<Seat> small = limiter.seatAsync("k", 1, LONG);
    assertThat(limiter.seatAsync("other", 3, LONG)).isDone();
    one.close();
    assertThat(three).isNotDone();
    assertThat(small).isNotDone();
    two.close();
    assertThat(three).isDone();
    assertThat(small).isNotDone();
    three.join().close();
    assertThat(small.join().granted()).isTrue();
  }

  @Test
  void timeout_isARefusal_andTheNextHasItsTurn() {
    RateLimiter limiter = limiter(2);
    limiter.seat("k");
    CompletableFuture<Seat> both = limiter.seatAsync("k", 2, Duration.ofSeconds(3));
    CompletableFuture<Seat> one = limiter.seatAsync("k", 1, LONG);
    ticker.advance(3 * SECOND - 1);
    assertThat(both).isNotDone();
    ticker.advance(1);
    assertThat(both.join().granted()).isFalse();
    assertThat(both.join().decision().reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(one.join().granted()).isTrue();
    assertNothingWaits();
  }

  @Test
  void timeoutOfALaterOne_isARefusal() {
    RateLimiter limiter = limiter(1);
    Seat held = limiter.seat("k");
    CompletableFuture<Seat> first = limiter.seatAsync("k", 1, LONG);
    CompletableFuture<Seat> later = limiter.seatAsync("k", 1, Duration.ofSeconds(1));
    ticker.advance(SECOND);
    assertThat(later.join().granted()).isFalse();
    held.close();
    assertThat(first.join().granted()).isTrue();
  }

  @Test
  void timeoutOfZero_isOneTry() {
    RateLimiter limiter = limiter(1);
    Seat held = limiter.seatAsync("k", 1, Duration.ZERO).join();
    assertThat(held.granted()).isTrue();
    CompletableFuture<Seat> refused = limiter.seatAsync("k", 1, Duration.ZERO);
    ticker.advance(0);
    assertThat(refused.join().granted()).isFalse();
  }

  @Test
  void permitsThatNeverFit_areRefusedAtOnce() {
    RateLimiter limiter = limiter(2);
    assertThat(limiter.seatAsync("k", 3, LONG).join().granted()).isFalse();
    assertThat(limiter.seatAsync("k", 2, LONG).join().granted()).isTrue();
  }

  @Test
  void seatThatIsLost_isTheNextOnes() {
    RateLimiter limiter = limiter(1);
    limiter.seat("k");
    CompletableFuture<Seat> next = limiter.seatAsync("k", 1, HOLD.multipliedBy(2));
    for (int i = 0; i < 59; i++) {
      ticker.advance(Duration.ofMinutes(1));
    }
    assertThat(next).isNotDone();
    ticker.advance(Duration.ofMinutes(1));
    assertThat(next.join().granted()).isTrue();
  }

  @Test
  void seatThatAnotherLimiterGivesBack_isFoundSoon() {
    LateStore store = new LateStore();
    RateLimiter one = RateLimiter.builder(seats(1)).ticker(ticker).store(store).build();
    RateLimiter two = RateLimiter.builder(seats(1)).ticker(ticker).store(store).build();
    CompletableFuture<Seat> held = one.seatAsync("k", 1, LONG);
    store.answer();
    CompletableFuture<Seat> waits = two.seatAsync("k", 1, LONG);
    store.answer();
    ignore(held.join().releaseAsync());
    store.answer();
    assertThat(waits).isNotDone();
    ticker.advance(SECOND / 20);
    store.answer();
    assertThat(waits.join().granted()).isTrue();
  }

  @Test
  void cancelledWaiter_leaves() {
    RateLimiter limiter = limiter(2);
    limiter.seat("k");
    CompletableFuture<Seat> both = limiter.seatAsync("k", 2, LONG);
    CompletableFuture<Seat> one = limiter.seatAsync("k", 1, LONG);
    assertThat(both.cancel(false)).isTrue();
    assertThat(one.join().granted()).isTrue();
    assertNothingWaits();
  }

  @Test
  void waiterThatIsCancelledWhileItIsTried_givesItsPermitsBack() {
    LateStore store = new LateStore();
    RateLimiter limiter = RateLimiter.builder(seats(1)).ticker(ticker).store(store).build();
    CompletableFuture<Seat> cancelled = limiter.seatAsync("k", 1, LONG);
    CompletableFuture<Seat> next = limiter.seatAsync("k", 1, LONG);
    assertThat(cancelled.cancel(false)).isTrue();
    answerAll(store);
    assertThat(next.join().granted()).isTrue();
    ignore(next.join().releaseAsync());
    answerAll(store);
    assertNothingWaits();
  }

  private static void answerAll(LateStore store) {
    for (int i = 0; i < 20 && store.due() > 0; i++) {
      store.answer();
    }
    assertThat(store.due()).isZero();
  }

  @Test
  void seatGivenBackWhileItsRefusalIsOnTheWay_isNotMissed() {
    LateStore store = new LateStore();
    RateLimiter limiter = RateLimiter.builder(seats(1)).ticker(ticker).store(store).build();
    CompletableFuture<Seat> held = limiter.seatAsync("k", 1, LONG);
    answerAll(store);
    CompletableFuture<Seat> waits = limiter.seatAsync("k", 1, LONG); // Decided, not answered.
    ignore(held.join().releaseAsync());
    store.answer(); // The release first, then the refusal.
    answerAll(store);
    assertThat(waits).as("without any time passing").isDone();
    assertThat(waits.join().granted()).isTrue();
  }

  @Test
  void interruptedWaiter_takesNothing() {
    RateLimiter limiter = limiter(1);
    Seat held = limiter.seat("k");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> limiter.seat("k", 1, LONG)).isInstanceOf(InterruptedException.class);
    held.close();
    assertThat(limiter.seat("k").granted()).isTrue();
    assertNothingWaits();
  }

  @Test
  void policiesReplacedByOnesWithoutSeats_endTheWait() {
    RateLimiter limiter = limiter(1);
    limiter.seat("k");
    List<CompletableFuture<Seat>> waiters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiters.add(limiter.seatAsync("k", 1, LONG));
    }
    limiter.replace(Policy.builder(Quota.perHour(1)).name("rate").build());
    ticker.advance(SECOND);
    assertThat(waiters)
        .allSatisfy(
            each -> assertThatThrownBy(each::join).hasCauseInstanceOf(IllegalStateException.class));
    assertNothingWaits();
  }

  /** A store whose next decision fails on demand. */
  private static final class FailingStore extends ForwardingStore<MemoryStore> {
    boolean fails;

    FailingStore() {
      super(new MemoryStore());
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      if (fails) {
        fails = false;
        throw new IllegalArgumentException("failed by the test");
      }
      super.decide(charges, nowNanos, done);
    }
  }

  @Test
  void storeFails_oneWaiterFails_andTheNextHasItsTurn() {
    FailingStore store = new FailingStore();
    RateLimiter limiter = RateLimiter.builder(seats(1)).ticker(ticker).store(store).build();
    Seat held = limiter.seat("k");
    CompletableFuture<Seat> first = limiter.seatAsync("k", 1, LONG);
    CompletableFuture<Seat> second = limiter.seatAsync("k", 1, LONG);
    store.fails = true;
    ticker.advance(SECOND);
    assertThatThrownBy(first::join).hasRootCauseMessage("failed by the test");
    assertThat(second).isNotDone();
    held.close();
    assertThat(second.join().granted()).isTrue();
    assertNothingWaits();
  }

  @Test
  void manyWaiters_endWithoutAnOverflowOfTheStack() {
    int waiters = 3_000;
    RateLimiter limiter = limiter(1);
    Seat held = limiter.seat("k");
    AtomicInteger granted = new AtomicInteger();
    List<CompletableFuture<Void>> done = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      done.add(
          limiter
              .seatAsync("k", 1, LONG)
              .thenAccept(
                  seat -> {
                    granted.addAndGet(seat.granted() ? 1 : 0);
                    seat.close(); // Each gives it to the next.
                  }));
    }
    held.close();
    assertThat(granted).hasValue(waiters);
    assertThat(done.stream().allMatch(CompletableFuture::isDone)).isTrue();
    assertNothingWaits();
  }

  @Test
  void randomWaiters_allEnd_andNeverBeyondTheLimit() {
    int runs = 300;
    SplittableRandom seeds = Trials.random("SeatQueueTest", runs);
    for (int run = 0; run < runs; run++) {
      SplittableRandom random = seeds.split();
      long limit = random.nextLong(1, 5);
      LateStore store = new LateStore();
      RateLimiter limiter = RateLimiter.builder(seats(limit)).ticker(ticker).store(store).build();
      List<CompletableFuture<Seat>> all = new ArrayList<>();
      List<Long> permits = new ArrayList<>();
      for (int i = 0; i < 80; i++) {
        int kind = random.nextInt(10);
        if (kind < 4) {
          permits.add(random.nextLong(1, limit + 1));
          Duration timeout = Duration.ofNanos(random.nextLong(3 * SECOND));
          all.add(limiter.seatAsync("k", permits.get(permits.size() - 1), timeout));
        } else if (kind < 6 && !all.isEmpty()) {
          CompletableFuture<Seat> any = all.get(random.nextInt(all.size()));
          if (!any.cancel(false) && !any.isCancelled()) {
            ignore(any.join().releaseAsync());
          }
        } else if (kind < 9) {
          store.answer();
        } else {
          ticker.advance(random.nextLong(SECOND));
        }
        assertThat(heldPermits(all, permits)).as("run %s", run).isLessThanOrEqualTo(limit);
      }
      for (int i = 0; i < 200; i++) {
        answerAll(store);
        ticker.advance(SECOND / 20);
      }
      assertThat(all).as("run %s, all end", run).allMatch(CompletableFuture::isDone);
      all.stream()
          .filter(each -> !each.isCancelled())
          .forEach(each -> ignore(each.join().releaseAsync()));
      answerAll(store);
      CompletableFuture<Seat> whole = limiter.seatAsync("k", limit, Duration.ZERO);
      answerAll(store);
      assertThat(whole.join().granted()).as("run %s, nothing is left out", run).isTrue();
    }
  }

  private static long heldPermits(List<CompletableFuture<Seat>> all, List<Long> permits) {
    long held = 0;
    for (int i = 0; i < all.size(); i++) {
      boolean answered = all.get(i).isDone() && !all.get(i).isCancelled();
      held += answered && all.get(i).join().isHeld() ? permits.get(i) : 0;
    }
    return held;
  }

  @Test
  void manyThreadsThatWait_allHaveTheirTurn() throws Exception {
    RateLimiter limiter = RateLimiter.builder(seats(2)).build();
    AtomicInteger held = new AtomicInteger();
    AtomicInteger beyond = new AtomicInteger();
    AtomicInteger granted = new AtomicInteger();
    StoreFixture.inParallel(
        6,
        thread -> {
          for (int i = 0; i < 300; i++) {
            try (Seat seat = limiter.seat("k", 1, LONG)) {
              granted.addAndGet(seat.granted() ? 1 : 0);
              beyond.addAndGet(held.incrementAndGet() > 2 ? 1 : 0);
              held.decrementAndGet();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        });
    assertThat(beyond).hasValue(0);
    assertThat(granted).hasValue(1_800);
  }

  /** Leaves a future alone: the store answers it later. */
  private static void ignore(CompletableFuture<Boolean> unused) {}
}
