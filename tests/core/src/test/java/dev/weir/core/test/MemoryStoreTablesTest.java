package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Fingerprint;
import dev.weir.FullMode;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.StoreFixture;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The special properties of tables in memory: batches, growth, bounds, the sketch, no allocation.
 */
class MemoryStoreTablesTest {
  private static final long SECOND = 1_000_000_000L;

  /**
   * The number of operations that are compared with the oracle. A longer run: {@code
   * -Dweir.operations=...}.
   */
  private static final long OPERATIONS =
      Long.getLong("weir.operations", Trials.runs(150_000, 2_000_000));

  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(5, 6);

  private static Policy.Builder policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm);
  }

  static Stream<Policy> policies() {
    return Stream.concat(
        Algorithm.rates().stream().map(algorithm -> policy(algorithm, 5).build()),
        Stream.of(
            policy(Algorithm.SLIDING_WINDOW, 1_000).build(),
            policy(Algorithm.TOKEN_BUCKET, 3).burst(9).build()));
  }

  @Tag("model")
  @Tag("sample")
  @ParameterizedTest
  @MethodSource("policies")
  void randomOperations_oneByOneAndInBatches_agreeWithTheOracle(Policy policy) {
    SplittableRandom random = Trials.random("tables " + policy, 2);
    long operations = OPERATIONS / policies().count() / 2;
    compare(policy, random, operations, 2_000, 0);
    // With few keys none is forgotten. If the request of a forgotten key is older than the instant
    // at which the key had reset, it is decided at that instant: that is safe, but differs from the
    // oracle, which forgets no key.
    compare(policy, random, operations, 40, SECOND / 100);
  }

  /**
   * Sends requests for random keys, now and then at a time that is older by at most {@code
   * backNanos}.
   */
  private static void compare(
      Policy policy, SplittableRandom random, long operations, int count, long backNanos) {
    MemoryStore store = new MemoryStore();
    Oracle oracle = Oracle.of(policy);
    Binding binding = store.bind("rule", policy, 0);
    Charges charges = new Charges();
    Batch batch = new Batch(1);
    String[] keys = new String[count];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "key-" + i;
    }
    long now = 1_000_000 * SECOND;
    long most = policy.burst();
    for (long done = 0; done < operations; ) {
      now += random.nextInt(4) == 0 ? random.nextLong(SECOND / 20) : random.nextLong(2_000);
      long asked = random.nextInt(8) == 0 ? now - random.nextLong(backNanos + 1) : now;
      int together = random.nextInt(3) == 0 ? 1 + random.nextInt(12) : 1;
      int reach = random.nextInt(3) == 0 ? keys.length : 1 + random.nextInt(8);
      batch.clear();
      List<String> names = new ArrayList<>();
      for (int i = 0; i < together; i++) {
        names.add(keys[random.nextInt(reach)]);
        long permits = random.nextInt(3) == 0 ? random.nextLong(most + 2) : 1;
        batch.add(binding, FINGERPRINT.of(names.get(i)), permits);
      }
      if (together > 1) {
        store.decide(batch, asked, same -> assertThat(same).isSameAs(batch));
      }
      for (int i = 0; i < together; i++) {
        long permits = batch.permits(i);
        long packed = batch.decision(i);
        if (together == 1 && random.nextBoolean()) {
          packed = store.decide(binding, batch.fingerprint(0), permits, asked);
        } else if (together == 1) {
          charges.clear().add(binding, batch.fingerprint(0), permits);
          store.decide(charges, asked, same -> {});
          packed = charges.allowed() ? charges.remaining(0) : -charges.retryAfterNanos(0);
        }
        Oracle.Verdict right = oracle.decide(names.get(i), asked, permits);
        if (packed != (right.allowed() ? right.remaining() : -right.retryAfterNanos())) {
          throw new AssertionError(
              "%s: %d permits at %d, %s: %d (expected: %s)"
                  .formatted(policy, permits, asked, names.get(i), packed, right));
        }
        done++;
      }
      if (backNanos == 0 && random.nextInt(1_000) == 0) {
        store.expire(now);
      }
    }
    store.verify();
  }

  @Tag("model")
  @Tag("sample")
  @ParameterizedTest
  @EnumSource
  void growthThroughManySplits_forgetsNoLiveKey_andShrinksWhenAllHaveReset(Algorithm algorithm) {
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("rule", policy(algorithm, 2).build(), 0);
    int keys = Trials.runs(50_000, 200_000);
    for (int i = 0; i < keys; i++) {
      assertThat(store.decide(binding, FINGERPRINT.of(i), 1, 0)).isOne();
      int earlier = (int) (i * 0x9e3779b1L % (i + 1));
      long again = store.decide(binding, FINGERPRINT.of(Math.abs(earlier)), 0, 0);
      assertThat(again).isBetween(0L, 1L);
    }
    store.verify();
    assertThat(store.keys()).isEqualTo(keys);
    for (int i = 0; i < keys; i++) {
      assertThat(store.decide(binding, FINGERPRINT.of(i), 1, 0)).isZero();
      assertThat(store.decide(binding, FINGERPRINT.of(i), 1, 0)).isNegative();
    }
    long full = store.bytes();
    for (int i = 0; i < 64; i++) {
      store.expire(10 * SECOND);
    }
    store.verify();
    assertThat(store.keys()).isZero();
    assertThat(store.bytes()).isLessThan(full / 1_000);
  }

  @Test
  void batchWithTheSameKeyAgain_andSeveralLimits_countsInOrder() {
    MemoryStore store = new MemoryStore();
    Binding two = store.bind("two", policy(Algorithm.SLIDING_WINDOW_LOG, 2).build(), 0);
    Binding three = store.bind("three", policy(Algorithm.TOKEN_BUCKET, 3).build(), 0);
    Batch batch = new Batch(1);
    for (int i = 0; i < 4; i++) {
      batch.add(two, 7, 1).add(three, 7, 1);
    }
    batch.add(three, 0, 4).add(three, 1, 3).add(three, 0, 1);
    store.decide(batch, 0, done -> {});
    List<Boolean> allowed = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      allowed.add(batch.allowed(i));
    }
    assertThat(allowed)
        .containsExactly(true, true, true, true, false, true, false, false, false, true, false);
    assertThat(PackedDecision.retryAfterNanos(batch.decision(4))).isEqualTo(SECOND);
    assertThat(PackedDecision.retryAfterNanos(batch.decision(8))).isEqualTo(Long.MAX_VALUE);
    store.verify();
  }

  @ParameterizedTest
  @EnumSource
  void deciding_allocatesNothing(Algorithm algorithm) {
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("rule", policy(algorithm, 3).build(), 0);
    Batch batch = new Batch(64);
    Charges charges = new Charges();
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long allocated = 0;
    int rounds = 2_000;
    for (int round = -rounds; round < rounds; round++) {
      if (round == 0) {
        allocated = threads.getCurrentThreadAllocatedBytes();
      }
      long now = (round + rounds) * SECOND / 7;
      batch.clear();
      for (int key = 1; key <= 64; key++) {
        batch.add(binding, FINGERPRINT.of(key), 1);
        store.decide(binding, FINGERPRINT.of(key), 1, now);
      }
      store.decide(batch, now, MemoryStoreTablesTest::ignore);
      store.decide(charges.clear().add(binding, 5, 1), now, MemoryStoreTablesTest::ignore);
    }
    long each = (threads.getCurrentThreadAllocatedBytes() - allocated) / (rounds * 129L);
    assertThat(each).isZero();
  }

  private static void ignore(Object decided) {}

  @ParameterizedTest
  @EnumSource
  void flood_fromTwoThreads_takesNoMoreThanTheBudget_andTheHotKeyNoMoreThanItsLimit(
      Algorithm algorithm) throws Exception {
    int most = 20_000;
    MemoryStore store = new MemoryStore(most);
    Policy policy = policy(algorithm, 50).build();
    Binding binding = store.bind("rule", policy, 0);
    long hot = FINGERPRINT.of("hot");
    AtomicLong admitted = new AtomicLong();
    AtomicLong others = new AtomicLong();
    admitted.addAndGet(store.decide(binding, hot, 1, 0) >= 0 ? 1 : 0);
    StoreFixture.inParallel(
        2,
        thread -> {
          for (int i = 0; i < 2 * most; i++) {
            long key = FINGERPRINT.of((long) thread << 32 | i);
            others.addAndGet(store.decide(binding, key, 1, 0) >= 0 ? 1 : 0);
            admitted.addAndGet(store.decide(binding, hot, 1, 0) >= 0 ? 1 : 0);
          }
        });
    assertThat(admitted).hasValue(50);
    assertThat(others).hasValue(most - 1);
    assertThat(store.keys()).isEqualTo(most);
    assertThat(store.decide(binding, FINGERPRINT.of("late"), 1, 0))
        .isEqualTo(PackedDecision.KEY_SPACE_FULL);
    store.verify();
    // When all keys have reset, there is room again.
    assertThat(store.decide(binding, FINGERPRINT.of("late"), 1, 10 * SECOND)).isNotNegative();
    store.verify();
  }

  @ParameterizedTest
  @EnumSource
  void memory_staysUnderItsBound_andNoKeyGetsMoreForIt(Algorithm algorithm) {
    long most = 1 << 20;
    MemoryStore store = new MemoryStore(1 << 30, most);
    Policy policy = policy(algorithm, 100).build();
    Binding binding = store.bind("rule", policy, 0);
    Map<Integer, Integer> admitted = new HashMap<>();
    long full = 0;
    for (int round = 0; round < 120; round++) {
      for (int key = 0; key < 2_000 + 500 * round; key += 1 + key / 1_000) {
        long decision = store.decide(binding, FINGERPRINT.of(key), 1, round * 1_000_000L);
        admitted.merge(key, decision >= 0 ? 1 : 0, Integer::sum);
        full += decision == PackedDecision.KEY_SPACE_FULL ? 1 : 0;
        assertThat(store.bytes()).isLessThanOrEqualTo(most + 1_024);
      }
    }
    assertThat(admitted.values())
        .allSatisfy(count -> assertThat((long) count).isLessThanOrEqualTo(Oracle.bound(policy)));
    assertThat(full).isNotNegative();
    store.verify();
  }

  @Test
  void maxKeysOfOnePolicy_leavesTheOthersTheirRoom() {
    MemoryStore store = new MemoryStore(10);
    Binding small = store.bind("small", policy(Algorithm.TOKEN_BUCKET, 5).maxKeys(3).build(), 0);
    Binding large = store.bind("large", policy(Algorithm.TOKEN_BUCKET, 5).build(), 0);
    assertThat(allowed(store, small, 5, 0)).isEqualTo(3);
    assertThat(allowed(store, large, 20, 0)).isEqualTo(7);
    assertThat(store.maxKeys()).isEqualTo(10);
    Binding wider = store.bind("small", policy(Algorithm.TOKEN_BUCKET, 5).maxKeys(4).build(), 0);
    assertThat(allowed(store, wider, 5, 0)).isEqualTo(3);
    store.retire("large", 0);
    store.expire(100 * SECOND);
    assertThat(allowed(store, wider, 5, 100 * SECOND)).isEqualTo(4);
    store.verify();
  }

  private static int allowed(MemoryStore store, Binding binding, int keys, long now) {
    int allowed = 0;
    for (int key = 1; key <= keys; key++) {
      allowed += store.decide(binding, FINGERPRINT.of(key), 1, now) >= 0 ? 1 : 0;
    }
    return allowed;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void sketch_mayDenyButNeverAdmitsTooMuch_alsoWhenThereIsRoomAgain(Algorithm algorithm) {
    int runs = 20;
    SplittableRandom random = Trials.random("sketch " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      MemoryStore store = new MemoryStore(20 + random.nextInt(200));
      Policy policy = policy(algorithm, 1 + random.nextInt(6)).whenFull(FullMode.SKETCH).build();
      Binding binding = store.bind("rule", policy, 0);
      List<WindowChecker.Operation> history = new ArrayList<>();
      Charges charges = new Charges();
      long now = 0;
      int admittedInTheSketch = 0;
      for (int i = 0; i < 4_000; i++) {
        now +=
            random.nextInt(50) == 0 ? random.nextLong(3 * SECOND) : random.nextLong(SECOND / 200);
        String key = "key-" + random.nextInt(random.nextBoolean() ? 30 : 1_000);
        boolean full = store.keys() >= store.maxKeys();
        charges.clear().add(binding, FINGERPRINT.of(key), 1);
        store.decide(charges, now, done -> {});
        assertThat(charges.reason(0)).isNotEqualTo(Reason.KEY_SPACE_FULL);
        if (charges.allowed()) {
          admittedInTheSketch += full ? 1 : 0;
          history.add(WindowChecker.Operation.admitted(key, 1, now));
        }
        if (random.nextInt(100) == 0) {
          store.expire(now);
        }
      }
      assertThat(WindowChecker.maxInAnyWindow(history, SECOND))
          .isLessThanOrEqualTo(Oracle.bound(policy));
      assertThat(admittedInTheSketch).isPositive();
      store.verify();
    }
  }

  @Test
  void manyThreadsOnOneHotKey_admitExactlyTheLimit_whateverTheAlgorithm() throws Exception {
    for (Algorithm algorithm : Algorithm.values()) {
      MemoryStore store = new MemoryStore();
      Binding binding = store.bind("rule", policy(algorithm, 5_000).build(), 0);
      AtomicLong admitted = new AtomicLong();
      StoreFixture.inParallel(
          8,
          thread -> {
            Batch batch = new Batch(4);
            for (int i = 0; i < 500; i++) {
              admitted.addAndGet(store.decide(binding, 42, 1, 0) >= 0 ? 1 : 0);
              batch.clear().add(binding, 42, 1).add(binding, thread + 100, 1).add(binding, 42, 1);
              store.decide(batch, 0, MemoryStoreTablesTest::ignore);
              admitted.addAndGet((batch.allowed(0) ? 1 : 0) + (batch.allowed(2) ? 1 : 0));
            }
          });
      assertThat(admitted).as(algorithm.toString()).hasValue(5_000);
      store.verify();
    }
  }

  /**
   * Checks that a thread that reads without a lock copes with an array that has just been replaced
   * by a shorter one.
   */
  @ParameterizedTest
  @EnumSource
  void refusalsWhileTheTableGrowsAndShrinks_areRefusals(Algorithm algorithm) throws Exception {
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("rule", policy(algorithm, 1).build(), 0);
    long day = 86_400 * SECOND;
    List<Long> hot = new ArrayList<>();
    for (long i = 0; i < 16; i++) {
      hot.add(i << 60 | 0xffff_fff0L); // The last slot of each segment, which goes first.
      assertThat(store.decide(binding, hot.get((int) i), 1, day)).isZero();
    }
    StoreFixture.inParallel(
        2,
        thread -> {
          for (int round = 0; round < 150; round++) {
            if (thread == 0) {
              for (long i = 1; i <= 5_000; i++) {
                store.decide(binding, i * 0x9e3779b97f4a7c15L, 1, 0);
              }
              for (int sweep = 0; sweep < 16; sweep++) {
                store.expire(10 * SECOND);
              }
            } else {
              for (int i = 0; i < 20_000; i++) {
                assertThat(store.decide(binding, hot.get(i & 15), 1, day)).isNegative();
              }
            }
          }
        });
    store.verify();
  }

  @Test
  void growthUnderManyThreads_losesNoAdmission() throws Exception {
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("rule", policy(Algorithm.TOKEN_BUCKET, 3).build(), 0);
    int keys = 300_000;
    AtomicLong admitted = new AtomicLong();
    StoreFixture.inParallel(
        4,
        thread -> {
          long mine = 0;
          for (int i = 0; i < keys; i++) {
            mine += store.decide(binding, FINGERPRINT.of(i), 1, 0) >= 0 ? 1 : 0;
          }
          admitted.addAndGet(mine);
        });
    assertThat(admitted).hasValue(3L * keys);
    assertThat(store.keys()).isEqualTo(keys);
    store.verify();
  }

  @Test
  void limiterByNumbers_agreesOneByOneAndInABatch() {
    FakeTicker ticker = new FakeTicker();
    RateLimiter limiter =
        RateLimiter.builder(policy(Algorithm.SLIDING_WINDOW_LOG, 2).build()).ticker(ticker).build();
    long[] keys = new long[200];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = i % 80;
    }
    long[] decisions = new long[200];
    limiter.packed().decide(keys, 1, decisions);
    for (int i = 0; i < keys.length; i++) {
      assertThat(PackedDecision.allowed(decisions[i])).isEqualTo(i < 160);
    }
    assertThat(limiter.packed().decide(3, 1)).isEqualTo(-SECOND);
    assertThat(limiter.packed().decide("3", 1)).isOne();
    assertThat(PackedDecision.reason(limiter.packed().decide(3, 1))).isEqualTo(Reason.OVER_LIMIT);
  }
}
