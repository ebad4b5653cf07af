package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.StoreFixture;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Common defects of rate limiters, each as a test of every algorithm. */
class PeersRegressionTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long START = 1_763_700_000L * SECOND;

  private final FakeTicker ticker = new FakeTicker(START);

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  private RateLimiter limiter(Policy policy) {
    return RateLimiter.builder(policy).ticker(ticker).build();
  }

  private static int admitted(RateLimiter limiter, String key, int asks) {
    int admitted = 0;
    for (int i = 0; i < asks; i++) {
      admitted += limiter.tryAcquire(key).allowed() ? 1 : 0;
    }
    return admitted;
  }

  @ParameterizedTest
  @EnumSource
  void jitteringClock_admitsNoMoreThanASteadyOne(Algorithm algorithm) {
    SplittableRandom random = Trials.random("jitteringClock");
    Policy policy = policy(algorithm, 100);
    RateLimiter limiter = limiter(policy);
    List<Operation> history = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      ticker.set(START + i * 100_000L - random.nextLong(1_000_000L));
      history.add(Operation.at("k", 1, limiter.tryAcquire("k")));
    }
    assertThat(WindowChecker.maxInAnyWindow(history, SECOND))
        .isLessThanOrEqualTo(Oracle.bound(policy));
    long admitted = history.stream().filter(Operation::allowed).count();
    assertThat(admitted).isBetween(190L, 320L);
  }

  @ParameterizedTest
  @EnumSource
  void limitFlappingBetweenTenAndTwenty_admitsAtMostTwenty(Algorithm algorithm) {
    try (Store store = new MemoryStore()) {
      int admitted = 0;
      for (int i = 0; i < 1_000; i++) {
        Binding binding = store.bind("rule", policy(algorithm, i % 2 == 0 ? 10 : 20), START);
        Charges one = new Charges().add(binding, 1, 1);
        store.decide(one, START, done -> {});
        admitted += one.allowed() ? 1 : 0;
      }
      assertThat(admitted).isBetween(10, 20);
    }
  }

  @ParameterizedTest
  @EnumSource
  void strangeCosts_neverAdmitTooMuchAndNeverOverdraw(Algorithm algorithm) {
    try (Store store = new MemoryStore()) {
      Binding binding = store.bind("rule", policy(algorithm, 10), START);
      long admitted = 0;
      for (int i = 0; i < 10; i++) {
        for (long cost : new long[] {-1, Long.MIN_VALUE, 0, Long.MAX_VALUE, 11, 3}) {
          Charges charges = new Charges().add(binding, 1, cost);
          store.decide(charges, START, done -> {});
          admitted += charges.allowed() ? cost : 0;
          assertThat(charges.allowed()).isEqualTo(cost == 0 || (cost == 3 && i < 3));
        }
      }
      assertThat(admitted).isEqualTo(9);
    }
  }

  @ParameterizedTest
  @EnumSource
  void retryAfter_passesThenAndNotATickEarlier(Algorithm algorithm) {
    for (long permits : new long[] {1, 3, 7, 9, 30, 77}) {
      RateLimiter limiter = limiter(policy(algorithm, permits));
      ticker.set(START + permits);
      limiter.tryAcquire("k", permits);
      for (int i = 0; i < 20; i++) {
        long retry = limiter.tryAcquire("k").retryAfterNanos();
        ticker.advance(retry - 1);
        assertThat(limiter.tryAcquire("k").allowed()).isFalse();
        ticker.advance(1);
        assertThat(limiter.tryAcquire("k").allowed()).isTrue();
        admitted(limiter, "k", (int) permits);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void fourTimesTheCapacityInKeys_neverForgivesTheHotOne(Algorithm algorithm) {
    int capacity = 1_000;
    RateLimiter limiter =
        RateLimiter.builder(policy(algorithm, 5)).ticker(ticker).maxKeys(capacity).build();
    assertThat(admitted(limiter, "hot", 10)).isEqualTo(5);
    int full = 0;
    for (int i = 0; i < 4 * capacity; i++) {
      full += limiter.tryAcquire("key-" + i).reason() == Reason.KEY_SPACE_FULL ? 1 : 0;
    }
    assertThat(full).isEqualTo(3 * capacity + 1);
    assertThat(admitted(limiter, "hot", 10)).isZero();
    assertThat(limiter.keys()).isEqualTo(capacity);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void everyAcceptedQuota_eventuallyDenies(Algorithm algorithm) {
    for (long permits : new long[] {1, 2, 1_000, 700_000_000L, Quota.MAX_PERMITS}) {
      for (long windowNanos : new long[] {Quota.MIN_WINDOW_NANOS, Quota.MAX_WINDOW_NANOS}) {
        Policy policy =
            Policy.builder(new Quota(permits, windowNanos)).algorithm(algorithm).build();
        RateLimiter limiter = limiter(policy);
        assertThat(limiter.tryAcquire("k", permits).allowed()).isTrue();
        assertThat(limiter.tryAcquire("k").allowed()).isFalse();
      }
    }
    for (long burst = 0; burst <= 3 && algorithm.bucket(); burst++) {
      Policy small =
          Policy.builder(Quota.perSecond(1_000)).algorithm(algorithm).burst(burst).build();
      assertThat(admitted(limiter(small), "k", 10)).isEqualTo((int) burst);
    }
  }

  @ParameterizedTest
  @EnumSource
  void clientClockShiftedByAWindow_changesNothing(Algorithm algorithm) {
    RateLimiter limiter = limiter(policy(algorithm, 10));
    assertThat(admitted(limiter, "k", 10)).isEqualTo(10);
    for (long shift : new long[] {-SECOND, -2 * SECOND, -SECOND / 2, 0}) {
      ticker.set(START + shift);
      assertThat(admitted(limiter, "k", 10)).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void moreThreadsThanPermits_admitExactlyThePermits(Algorithm algorithm) throws Exception {
    RateLimiter limiter = limiter(policy(algorithm, 7));
    AtomicInteger admitted = new AtomicInteger();
    StoreFixture.inParallel(
        16, thread -> admitted.addAndGet(limiter.tryAcquire("k").allowed() ? 1 : 0));
    assertThat(admitted).hasValue(7);
  }

  @ParameterizedTest
  @EnumSource
  void clockStepsUnderLoad_losesNoCountAndAdmitsNoMore(Algorithm algorithm) {
    Policy policy = policy(algorithm, 50);
    for (Duration step :
        List.of(Duration.ofSeconds(-1), Duration.ofHours(-1), Duration.ofHours(1))) {
      ticker.set(START);
      RateLimiter limiter = limiter(policy);
      List<Operation> history = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        ticker.advance(i == 1_000 ? step.toNanos() : SECOND / 1_000);
        history.add(Operation.at("k", 1, limiter.tryAcquire("k")));
      }
      assertThat(WindowChecker.maxInAnyWindow(history, SECOND))
          .isLessThanOrEqualTo(Oracle.bound(policy));
      assertThat(history).filteredOn(Operation::allowed).hasSizeGreaterThanOrEqualTo(50);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void sevenHundredMillionASecond_admitsNoMoreThanExactlyThat(Algorithm algorithm) {
    long permits = 700_000_000L;
    Policy policy = policy(algorithm, permits);
    RateLimiter limiter = limiter(policy);
    BigInteger admitted = BigInteger.ZERO;
    int windows = 10;
    for (long i = 0; i < windows * 64L; i++) {
      long all = limiter.peek("k").remaining();
      assertThat(limiter.tryAcquire("k", all).allowed()).isTrue();
      admitted = admitted.add(BigInteger.valueOf(all));
      ticker.advance(SECOND / 64);
    }
    // The permits of as many windows, and those possible at their edge.
    assertThat(admitted).isLessThanOrEqualTo(BigInteger.valueOf(permits * (windows + 1)));
    assertThat(admitted).isGreaterThan(BigInteger.valueOf(permits * windows / 2));
  }

  @ParameterizedTest
  @EnumSource
  void costAboveTheLimit_isRefusedAsOneThatCanNeverPass(Algorithm algorithm) throws Exception {
    RateLimiter limiter = limiter(policy(algorithm, 1));
    Decision refused = limiter.acquire("k", 1_000, Duration.ofDays(1));
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(ticker.nanos()).isEqualTo(START);
    assertThat(limiter.tryAcquire("k").allowed()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void idleSpell_leavesNoMoreThanOneBurst(Algorithm algorithm) {
    RateLimiter limiter = limiter(policy(algorithm, 10));
    for (Duration idle : List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofDays(400))) {
      ticker.advance(idle.multipliedBy(2));
      assertThat(limiter.peek("k").remaining()).isLessThanOrEqualTo(10);
      assertThat(admitted(limiter, "k", 30)).isEqualTo(10);
      ticker.advance(2 * SECOND);
    }
  }

  @ParameterizedTest
  @EnumSource
  void oneOfSeveralLimitsRefuses_theOthersKeepTheirPermits(Algorithm algorithm) {
    try (Store store = new MemoryStore()) {
      Binding open = store.bind("open", policy(algorithm, 10), START);
      Binding closed = store.bind("closed", policy(algorithm, 0), START);
      for (int i = 0; i < 30; i++) {
        Charges both = new Charges().add(open, 1, 1).add(closed, 1, 1);
        store.decide(both, START, done -> {});
        assertThat(both.allowed()).isFalse();
      }
      Charges look = new Charges().add(open, 1, 10);
      store.decide(look, START, done -> {});
      assertThat(look.allowed()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void waitLongerThanTheTimeout_isRefusedAtOnce(Algorithm algorithm) throws Exception {
    RateLimiter limiter = limiter(policy(algorithm, 1));
    limiter.tryAcquire("k");
    long retry = limiter.peek("k").retryAfterNanos();
    Decision refused = limiter.acquire("k", Duration.ofNanos(retry - 1));
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.retryAfterNanos()).isEqualTo(retry);
    assertThat(ticker.nanos()).isEqualTo(START);
  }

  @ParameterizedTest
  @EnumSource
  void window_slidesForAsLongAsAnybodyAsks(Algorithm algorithm) {
    Policy policy = policy(algorithm, 10);
    RateLimiter limiter = limiter(policy);
    List<Operation> history = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      history.add(Operation.at("k", 1, limiter.tryAcquire("k")));
      ticker.advance(SECOND / 97);
    }
    assertThat(WindowChecker.maxInAnyWindow(history, SECOND))
        .isLessThanOrEqualTo(Oracle.bound(policy));
    // In 103 windows it must neither stop admitting nor fail to count.
    assertThat(history).filteredOn(Operation::allowed).hasSizeBetween(900, 1_060);
  }
}
