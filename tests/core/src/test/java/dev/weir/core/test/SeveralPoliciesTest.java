package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.LimiterBuilder;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Throttle;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.StoreFixture;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Several quotas on one limiter: all of them are charged, or none. */
class SeveralPoliciesTest {
  private static final long SECOND = 1_000_000_000L;

  private final FakeTicker ticker = new FakeTicker();

  /** A store that hides the fact that it answers on the caller's thread. */
  private static final class Distant extends ForwardingStore<Store> {
    Distant() {
      super(new MemoryStore());
    }
  }

  private List<RateLimiter> limiters(Quota first, Quota second) {
    return List.of(
        RateLimiter.builder(first, second).ticker(ticker).build(),
        RateLimiter.builder(first, second).ticker(ticker).store(new Distant()).name("far").build());
  }

  @Test
  void decision_speaksForThePolicyThatRefusesLongest_andHasTheParts() {
    for (RateLimiter limiter : limiters(Quota.perSecond(2), Quota.perMinute(3))) {
      ticker.set(0);
      String name = limiter.policy().name();
      Decision first = limiter.tryAcquire("k");
      assertThat(first.allowed()).isTrue();
      assertThat(first.remaining()).isEqualTo(1);
      assertThat(first.policy()).isEqualTo(name);
      assertThat(first.resetAfterNanos()).isEqualTo(60 * SECOND);
      limiter.tryAcquire("k");
      Decision second = limiter.tryAcquire("k");
      assertThat(second.policy()).isEqualTo(name);
      assertThat(second.reason()).isEqualTo(Reason.OVER_LIMIT);
      assertThat(second.retryAfterNanos()).isEqualTo(SECOND);
      assertThat(second.parts().stream().map(Decision::allowed)).containsExactly(false, true);
      ticker.advance(SECOND);
      assertThat(limiter.tryAcquire("k").remaining()).isZero();
      Decision minute = limiter.tryAcquire("k", 2);
      assertThat(minute.policy()).isEqualTo(name + "#2");
      assertThat(minute.retryAfterNanos()).isEqualTo(59 * SECOND);
      assertThat(minute.parts()).noneMatch(Decision::allowed);
      assertThat(limiter.tryAcquire("k", 4).retryable()).as("never fits").isFalse();
    }
  }

  @Test
  void refund_givesBackToEachPolicy_andOfARefusalNothing() {
    for (RateLimiter limiter : limiters(Quota.perSecond(5), Quota.perMinute(5))) {
      Decision charged = limiter.tryAcquire("k", 5);
      Decision refused = limiter.tryAcquire("k");
      assertThat(limiter.refund("k", 1, refused)).isZero();
      assertThat(limiter.refund("k", 5, charged)).isEqualTo(5);
      assertThat(limiter.tryAcquire("k", 5).allowed()).isTrue();
      assertThat(limiter.reset("k")).isTrue();
      assertThat(limiter.reset("k")).isFalse();
      assertThat(limiter.peek("k", 5).allowed()).isTrue();
      assertThat(limiter.peek("k").remaining()).isEqualTo(5);
    }
  }

  @Test
  void randomRequests_agreeWithOraclesAskedTogether() {
    // All instants lie on granules of both windows, so that every permit returns in time.
    long step = 10_000;
    long shorterWindow = 1_000 * step;
    long longerWindow = 4_000 * step;
    int runs = 60;
    SplittableRandom random = Trials.random("severalPolicies", runs);
    for (int trial = 0; trial < runs; trial++) {
      Quota shorter = new Quota(random.nextInt(1, 6), shorterWindow);
      Quota longer = new Quota(random.nextInt(1, 12), longerWindow);
      for (RateLimiter limiter : limiters(shorter, longer)) {
        PackedLimiter packed = limiter.packed();
        List<Long> admitted = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          ticker.advance(step * random.nextLong(400));
          long asked = random.nextLong(1, 4);
          long now = ticker.nanos();
          long inShorter = admitted.stream().filter(at -> at > now - shorterWindow).count();
          long inLonger = admitted.stream().filter(at -> at > now - longerWindow).count();
          long left =
              Math.max(0, Math.min(shorter.permits() - inShorter, longer.permits() - inLonger));
          boolean fits = asked <= left;
          switch (random.nextInt(4)) {
            case 0 -> {
              long[] decisions = new long[1];
              packed.decide(new long[] {7}, 0, decisions);
              assertThat(PackedDecision.allowed(packed.decide("k", asked))).isEqualTo(fits);
            }
            case 1 ->
                assertThat(limiter.tryAcquireAsync("k", asked).join().allowed()).isEqualTo(fits);
            case 2 -> {
              long taken = limiter.tryAcquireUpTo("k", asked);
              assertThat(taken).isEqualTo(Math.min(asked, left));
              asked = taken;
              fits = true;
            }
            default -> {
              assertThat(limiter.peek("k", asked).allowed()).isEqualTo(fits);
              Decision decision = limiter.tryAcquire("k", asked);
              assertThat(decision.allowed()).isEqualTo(fits);
              assertThat(decision.remaining()).isEqualTo(fits ? left - asked : left);
            }
          }
          for (int j = 0; fits && j < asked; j++) {
            admitted.add(now);
          }
        }
      }
    }
  }

  @Test
  void acquire_waitsForAllPolicies_andRefusesWhatWouldWaitTooLong() throws InterruptedException {
    for (RateLimiter limiter : limiters(Quota.perSecond(1), Quota.perMinute(2))) {
      ticker.set(0);
      assertThat(limiter.acquire("k").allowed()).isTrue();
      assertThat(limiter.acquire("k", Duration.ofSeconds(1)).allowed()).isTrue();
      assertThat(ticker.nanos()).isEqualTo(SECOND);
      assertThat(limiter.acquire("k", Duration.ofSeconds(58)).allowed()).isFalse();
      assertThat(ticker.nanos()).as("refused at once").isEqualTo(SECOND);
      assertThat(limiter.acquire("k", Duration.ofSeconds(59)).allowed()).isTrue();
      assertThat(ticker.nanos()).isEqualTo(60 * SECOND);
    }
  }

  @Test
  void acquireAsync_comesWhenAllFit() {
    for (RateLimiter limiter : limiters(Quota.perSecond(1), Quota.perMinute(2))) {
      ticker.set(0);
      limiter.tryAcquire("k");
      CompletableFuture<Decision> waits = limiter.acquireAsync("k");
      CompletableFuture<Decision> hopeless = limiter.acquireAsync("k", Duration.ofMillis(999));
      assertThat(hopeless.join().allowed()).isFalse();
      ticker.advance(SECOND - 1);
      assertThat(waits).isNotDone();
      ticker.advance(1);
      assertThat(waits.join().allowed()).isTrue();
      CompletableFuture<Decision> cancelled = limiter.acquireAsync("k");
      int scheduled = ticker.scheduled();
      assertThat(cancelled.cancel(false)).isTrue();
      assertThat(ticker.scheduled()).isEqualTo(scheduled - 1);
    }
  }

  @Test
  void reserve_isRefused_sinceInstantsDiffer() {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(1), Quota.perMinute(2));
    assertThatThrownBy(() -> limiter.reserve("k", 1, Duration.ZERO))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("policies: 2 (expected: 1");
  }

  @Test
  void elasticPolicyWithSpareCapacity_refusesNothing_whileTheHardOneHolds() {
    Policy soft = Policy.builder(Quota.perSecond(1)).throttle(Throttle.elastic(0.5)).build();
    RateLimiter limiter =
        RateLimiter.builder(soft, Policy.of(Quota.perMinute(2)))
            .ticker(ticker)
            .load(() -> 0)
            .build();
    assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.TOLERATED);
    Decision refused = limiter.tryAcquire("k");
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.policy()).isEqualTo("default#2");
    assertThat(limiter.packed().decide("k", 1)).isNegative();
  }

  @Test
  void names_areNeededInASharedStore_andTwoOfOneLimiterDiffer() {
    MemoryStore store = new MemoryStore();
    assertThatThrownBy(
            () -> RateLimiter.builder(Quota.perSecond(1), Quota.perMinute(2)).store(store).build())
        .hasMessageStartingWith("policy: without a name (");
    Policy one = Policy.of(Quota.perSecond(1)).named("x");
    assertThatThrownBy(() -> RateLimiter.of(one, Policy.of(Quota.perMinute(2)).named("x")))
        .hasMessage("policies: two named x (expected: a name for each)");
    RateLimiter api =
        RateLimiter.builder(Quota.perSecond(1), Quota.perMinute(1))
            .name("api")
            .store(store)
            .build();
    RateLimiter login =
        RateLimiter.builder(Quota.perSecond(1), Quota.perMinute(1))
            .name("login")
            .store(store)
            .build();
    assertThat(api.policies().stream().map(Policy::name)).containsExactly("api", "api#2");
    assertThat(api.tryAcquire("k").allowed()).isTrue();
    assertThat(login.tryAcquire("k").allowed()).as("they count apart").isTrue();
    assertThat(api.tryAcquire("k").allowed()).isFalse();
  }

  @Test
  void replacements_neverAdmitMoreThanTheLargestQuotaInForceInAWindow() {
    int runs = 100;
    SplittableRandom random = Trials.random("replacements", runs);
    long[] windows = {100 * 1_000_000L, 700 * 1_000_000L};
    for (int trial = 0; trial < runs; trial++) {
      FakeTicker time = new FakeTicker(SECOND);
      long[] permits = {random.nextLong(1, 10), random.nextLong(1, 30)};
      RateLimiter limiter =
          RateLimiter.builder(quota(permits, windows, 0), quota(permits, windows, 1))
              .ticker(time)
              .build();
      List<Operation> history = new ArrayList<>();
      record Change(long at, long first, long second) {}
      List<Change> changes = new ArrayList<>(List.of(new Change(0, permits[0], permits[1])));
      for (int i = 0; i < 400; i++) {
        time.advance(random.nextLong(20_000_000));
        if (random.nextInt(10) == 0) {
          permits = new long[] {random.nextLong(0, 10), random.nextLong(0, 30)};
          limiter.replace(quota(permits, windows, 0), quota(permits, windows, 1));
          changes.add(new Change(time.nanos(), permits[0], permits[1]));
        }
        long asked = random.nextLong(1, 4);
        Decision decision = limiter.tryAcquire("k", asked);
        history.add(Operation.at("k", asked, decision));
        for (int w = 0; decision.allowed() && w < 2; w++) {
          long from = time.nanos() - windows[w];
          long sum =
              history.stream()
                  .filter(each -> each.allowed() && each.endNanos() > from)
                  .mapToLong(Operation::permits)
                  .sum();
          long most = 0;
          for (int c = 0; c < changes.size(); c++) {
            boolean over = c + 1 < changes.size() && changes.get(c + 1).at() <= from;
            long quota = w == 0 ? changes.get(c).first() : changes.get(c).second();
            most = over ? most : Math.max(most, quota);
          }
          assertThat(sum).as("window %d of trial %d", w, trial).isLessThanOrEqualTo(most);
        }
      }
    }
  }

  private static Quota quota(long[] permits, long[] windows, int i) {
    return new Quota(permits[i], windows[i]);
  }

  @Test
  void quotaWithoutAName_continuesTheOneOfItsWindow_atWhateverPlace() {
    RateLimiter limiter = RateLimiter.builder(Quota.perMinute(20)).ticker(ticker).build();
    assertThat(limiter.tryAcquire("k", 20).allowed()).isTrue();
    limiter.replace(Quota.perSecond(5), Quota.perMinute(20));
    assertThat(limiter.tryAcquire("k").allowed()).as("put before").isFalse();
    limiter.replace(Quota.perMinute(20), Quota.perSecond(5));
    assertThat(limiter.tryAcquire("k").allowed()).as("in another order").isFalse();
    limiter.replace(Quota.perSecond(5));
    assertThat(limiter.tryAcquire("k", 5).allowed()).as("left out").isTrue();
    limiter.replace(Quota.perMinute(20));
    assertThat(limiter.tryAcquire("k").allowed()).as("back again").isFalse();
    ticker.advance(SECOND);
    limiter.replace(Quota.perSecond(5), Quota.of(21, Duration.ofMinutes(2)));
    assertThat(limiter.tryAcquire("k", 2).allowed()).as("the nearest window").isFalse();
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
  }

  @Test
  void quotasWithoutNamesChangePlaces_inAStoreOfOthers_isRefused() {
    RateLimiter limiter =
        RateLimiter.builder(Quota.perMinute(20)).name("api").store(new MemoryStore()).build();
    assertThatThrownBy(() -> limiter.replace(Quota.perSecond(5), Quota.perMinute(20)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("policy 1: without a name, and at another place than before");
    limiter.replace(Quota.perMinute(30), Quota.perSecond(5));
    assertThat(limiter.policies().stream().map(Policy::name)).containsExactly("api", "api#2");
  }

  @Test
  void quotaOfANewWindow_inAStoreOfOthers_isAtThePlaceOfOneThatWasLeftOut() {
    RateLimiter limiter =
        RateLimiter.builder(Quota.perSecond(10), Quota.perMinute(20))
            .ticker(ticker)
            .name("api")
            .store(new MemoryStore())
            .build();
    assertThat(limiter.tryAcquire("k", 10).allowed()).isTrue();
    limiter.replace(Quota.perSecond(10));
    limiter.replace(Quota.perSecond(10), Quota.perHour(30));
    assertThat(limiter.policies().stream().map(Policy::name)).containsExactly("api", "api#2");
    assertThat(limiter.tryAcquire("k").allowed()).as("counted all the time").isFalse();
    Policy second = Policy.of(Quota.perDay(1)).named("api#2");
    LimiterBuilder unclear =
        RateLimiter.builder(second, Policy.of(Quota.perHour(30)))
            .name("api")
            .store(new MemoryStore());
    assertThatThrownBy(unclear::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("policies: two named api#2 (expected: a name for each)");
  }

  /** Quotas of two windows, in any order, with a third one now and then. */
  @Test
  void replacementsInAnyOrder_neverAdmitMoreThanTheLargestQuotaOfTheWindow() {
    int runs = 100;
    SplittableRandom random = Trials.random("replacements in any order", runs);
    long[] windows = {100 * 1_000_000L, 700 * 1_000_000L, 250 * 1_000_000L};
    for (int trial = 0; trial < runs; trial++) {
      FakeTicker time = new FakeTicker(SECOND);
      RateLimiter limiter = RateLimiter.builder(Quota.perSecond(1)).ticker(time).build();
      List<Operation> history = new ArrayList<>();
      List<Long> changed = new ArrayList<>();
      List<long[]> inForce = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        time.advance(random.nextLong(20_000_000));
        if (i == 0 || random.nextInt(10) == 0) {
          long[] permits = {random.nextLong(1, 10), random.nextLong(1, 30), random.nextLong(1, 20)};
          List<Quota> quotas = new ArrayList<>();
          for (int w = 0; w < (random.nextBoolean() ? 3 : 2); w++) {
            quotas.add(random.nextInt(quotas.size() + 1), quota(permits, windows, w));
          }
          limiter.replace(quotas.get(0), quotas.subList(1, quotas.size()).toArray(Quota[]::new));
          changed.add(time.nanos());
          inForce.add(permits);
        }
        long asked = random.nextLong(1, 4);
        Decision decision = limiter.tryAcquire("k", asked);
        history.add(Operation.at("k", asked, decision));
        for (int w = 0; decision.allowed() && w < 2; w++) {
          long from = time.nanos() - windows[w];
          if (changed.get(0) > from) {
            continue; // The first limiter had another window.
          }
          long sum =
              history.stream()
                  .filter(each -> each.allowed() && each.endNanos() > from)
                  .mapToLong(Operation::permits)
                  .sum();
          long most = 0;
          for (int c = 0; c < changed.size(); c++) {
            boolean over = c + 1 < changed.size() && changed.get(c + 1) <= from;
            most = over ? most : Math.max(most, inForce.get(c)[w]);
          }
          assertThat(sum).as("window %d of trial %d", w, trial).isLessThanOrEqualTo(most);
        }
      }
    }
  }

  @Test
  void replacementsWhileThreadsAsk_admitNoMoreThanTheLargestQuota() throws Exception {
    for (int round = 0; round < 200; round++) {
      RateLimiter limiter =
          RateLimiter.builder(Policy.of(Quota.perMinute(50))).ticker(ticker).build();
      long[] admitted = new long[4];
      StoreFixture.inParallel(
          4,
          thread -> {
            for (int i = 0; i < 60; i++) {
              if (thread == 0 && i % 4 == 0) {
                Algorithm algorithm =
                    i % 8 == 0 ? Algorithm.SLIDING_WINDOW_BUCKETS : Algorithm.SLIDING_WINDOW_LOG;
                long permits = 30 + i % 3 * 10L;
                limiter.replace(
                    Policy.builder(Quota.perMinute(permits)).algorithm(algorithm).build());
              }
              admitted[thread] += limiter.tryAcquire("k").allowed() ? 1 : 0;
            }
          });
      assertThat(admitted[0] + admitted[1] + admitted[2] + admitted[3]).isLessThanOrEqualTo(50);
    }
  }

  @Test
  void replace_goesOnWithWhatWasCounted_andARefusedReplacementChangesNothing() {
    RateLimiter limiter = RateLimiter.builder(Quota.perMinute(5)).ticker(ticker).build();
    limiter.tryAcquire("k", 4);
    limiter.replace(Quota.perMinute(6));
    assertThat(limiter.tryAcquire("k", 3).allowed()).isFalse();
    assertThat(limiter.tryAcquire("k", 2).allowed()).isTrue();
    limiter.replace(Quota.perHour(6), Quota.perDay(100));
    assertThat(limiter.tryAcquire("k").allowed()).as("another window, the same counts").isFalse();
    assertThatThrownBy(
            () -> {
              for (int i = 1; i < 20; i++) {
                limiter.replace(Quota.of(6, Duration.ofMinutes(100 + i)));
              }
            })
        .isInstanceOf(IllegalStateException.class);
    assertThat(limiter.tryAcquire("k").allowed()).isFalse();
    assertThat(limiter.policies()).hasSize(1);
  }
}
