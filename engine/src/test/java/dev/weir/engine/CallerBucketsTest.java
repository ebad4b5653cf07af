package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Store;
import dev.weir.engine.internal.callers.CallerWindows;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Buckets that every request describes anew, in a store of this process and in another. */
class CallerBucketsTest {
  private static final long SECOND = 1_000_000_000L;

  private final MemoryStore store = new MemoryStore(1_000);
  private final CallerBuckets buckets = new CallerBuckets(store, 0);

  private static long key(CallerBuckets buckets, String key) {
    byte[] bytes = ("<" + key + ">").getBytes(StandardCharsets.UTF_8);
    return buckets.key(bytes, 1, bytes.length - 1);
  }

  /** Requests one permit, and returns what remains, or minus the seconds to wait. */
  private long request(String key, long burst, long count, long periodSeconds, long nowNanos) {
    Batch batch =
        new Batch(1).add(buckets.bucket(burst, count, periodSeconds), key(buckets, key), 1);
    buckets.decide(batch, nowNanos, decided -> {});
    long packed = batch.decision(0);
    return PackedDecision.allowed(packed)
        ? PackedDecision.remaining(packed)
        : -PackedDecision.retryAfterNanos(packed) / SECOND;
  }

  @Test
  void oneBucket_holdsItsBurstAndRefillsByItsCount() {
    assertThat(request("k", 3, 1, 10, 0)).isEqualTo(2);
    assertThat(request("k", 3, 1, 10, 0)).isEqualTo(1);
    assertThat(request("k", 3, 1, 10, 0)).isZero();
    assertThat(request("k", 3, 1, 10, 0)).isEqualTo(-10);
    assertThat(request("k", 3, 1, 10, 4 * SECOND)).isEqualTo(-6);
    assertThat(request("k", 3, 1, 10, 10 * SECOND)).isZero();
    assertThat(request("other", 3, 1, 10, 10 * SECOND)).isEqualTo(2);
    assertThat(buckets.metrics()).isEqualTo(new CallerBucketsMetrics(7, 2, 0, 0, 0));
  }

  @Test
  void otherNumbers_goOnWithWhatTheKeyHasUsed() {
    for (int i = 0; i < 3; i++) {
      request("k", 3, 1, 10, 0);
    }
    assertThat(request("k", 3, 2, 10, 0)).as("full again after 30 s, so never sooner").isNegative();
    assertThat(request("k", 3, 2, 10, 30 * SECOND)).isEqualTo(2);
  }

  @Test
  void reset_forgetsTheKeyWhateverItsBucket() {
    request("k", 1, 1, 10, 0);
    List<Boolean> known = new ArrayList<>();
    buckets.reset(key(buckets, "k"), 0, known::add);
    buckets.reset(key(buckets, "k"), 0, known::add);
    assertThat(known).containsExactly(true, false);
    assertThat(request("k", 1, 1, 10, 0)).isZero();
  }

  @Test
  void noRoom_isRefusedAndCounted() {
    CallerBuckets small = new CallerBuckets(new MemoryStore(1), 0);
    Batch batch = new Batch(2);
    batch.add(small.bucket(2, 1, 10), key(small, "a"), 1);
    batch.add(small.bucket(2, 1, 10), key(small, "b"), 1);
    small.decide(batch, 0, decided -> {});
    assertThat(batch.allowed(0)).isTrue();
    assertThat(batch.decision(1)).isEqualTo(PackedDecision.KEY_SPACE_FULL);
    assertThat(small.metrics()).isEqualTo(new CallerBucketsMetrics(2, 1, 1, 0, 0));
  }

  @Test
  void storeThatCannotDecide_isCountedAsUncertain() {
    LateStore late = new LateStore();
    CallerBuckets far = new CallerBuckets(late, 0);
    Batch batch = new Batch(1).add(far.bucket(2, 1, 10), 7, 1);
    far.decide(batch, 0, decided -> {});
    batch.decision(0, PackedDecision.UNCERTAIN); // The answer of a store that is away.
    assertThat(late.answer()).isEqualTo(1);
    assertThat(far.metrics()).isEqualTo(new CallerBucketsMetrics(1, 1, 0, 1, 0));
    far.overloaded();
    assertThat(far.metrics().overloaded()).isEqualTo(1);
  }

  @Test
  void otherRefusalsOfAStore_areNotCountedAsUncertain() {
    LateStore late = new LateStore();
    CallerBuckets far = new CallerBuckets(late, 0);
    Batch batch = new Batch(3);
    for (int i = 0; i < 3; i++) {
      batch.add(far.bucket(2, 1, 10), i, 1);
    }
    far.decide(batch, 0, decided -> {});
    batch.decision(0, PackedDecision.OVERLOADED);
    batch.decision(1, PackedDecision.KEY_SPACE_FULL);
    batch.decision(2, -SECOND); // Over the limit for a second.
    assertThat(late.answer()).isEqualTo(1);
    assertThat(far.metrics()).isEqualTo(new CallerBucketsMetrics(3, 3, 1, 0, 0));
  }

  @Test
  void storeThatAnswersLater_countsWhenItHasAnswered() {
    LateStore late = new LateStore();
    CallerBuckets far = new CallerBuckets(late, 0);
    assertThat(far.decidesHere()).isFalse();
    assertThat(buckets.decidesHere()).isTrue();
    List<Boolean> allowed = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Batch batch = new Batch(1).add(far.bucket(1, 1, 10), 7, 1);
      far.decide(batch, 0, decided -> allowed.add(decided.allowed(0)));
    }
    assertThat(allowed).isEmpty();
    assertThat(far.metrics().requests()).isZero();
    assertThat(late.answer()).isEqualTo(2);
    assertThat(allowed).containsExactlyInAnyOrder(true, false);
    assertThat(far.metrics().requests()).isEqualTo(2);
  }

  @Test
  void twoOnOneStore_countTogether() {
    Store shared = store;
    CallerBuckets other = new CallerBuckets(shared, 0);
    assertThat(key(other, "k")).isEqualTo(key(buckets, "k"));
    assertThat(request("k", 1, 1, 10, 0)).isZero();
    Batch batch = new Batch(1).add(other.bucket(1, 1, 10), key(other, "k"), 1);
    other.decide(batch, 0, decided -> {});
    assertThat(batch.allowed(0)).isFalse();
  }

  @Test
  void moreBucketsThanAreRemembered_stillCountTheSameKeys() {
    assertThat(request("k", 1, 1, 1_000_000, 0)).isZero();
    for (int count = 1; count <= 10_000; count++) {
      buckets.bucket(1, count, 1);
    }
    assertThat(request("k", 1, 1, 1_000_000, 0)).isNegative();
  }

  @Test
  void numbersThatMakeNoBucket_areRefused() {
    assertThatThrownBy(() -> buckets.bucket(1, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("period: 0 (expected: 1..");
    assertThatThrownBy(() -> buckets.bucket(1, 1, Long.MAX_VALUE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("period: 9223372036854775807 (expected: 1..");
    assertThatThrownBy(() -> buckets.bucket(-1, 1, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buckets.bucket(1, -1, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void knownBuckets_allocateNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Batch batch = new Batch(16).detailed();
    int[] decided = {0};
    Runnable sixteen =
        () -> {
          batch.clear();
          for (int i = 0; i < 16; i++) {
            batch.add(buckets.bucket(10 + i % 4, 5, 60), i, 1);
          }
          buckets.decide(batch, 0, done -> decided[0] += done.size());
        };
    for (int i = 0; i < 3_000; i++) {
      sixteen.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1_000; i++) {
      sixteen.run();
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(bytes / 1_000).as("for 16: at most the callback").isLessThan(64);
    assertThat(decided[0]).isEqualTo(16 * 4_000);
  }

  /** Requests permits of a window, and returns what remains; -1 if they are refused. */
  private long take(String key, long permits, long limit, long windowNanos, long nowNanos) {
    Batch batch = new Batch(1).detailed();
    batch.add(buckets.window(limit, windowNanos, nowNanos), key(buckets, key), permits);
    buckets.decide(batch, nowNanos, decided -> {});
    return batch.allowed(0) ? batch.remaining(0) : -1;
  }

  @Test
  void windows_neverHoldMoreThanTheirLimit_andRefuseNothingThatFits() {
    int runs = 100;
    SplittableRandom seeds = Trials.random("windows of callers", runs);
    for (int run = 0; run < runs; run++) {
      SplittableRandom random = seeds.split();
      long limit = random.nextLong(1, 30);
      long window = random.nextLong(1_000, 100_000_000_000L);
      long late =
          buckets.window(limit, window, 0).policy().granularityNanos(); // See guarantees.md.
      String key = "windows" + run;
      List<WindowChecker.Operation> admitted = new ArrayList<>();
      long now = random.nextLong(0, 1_000_000_000_000L);
      for (int i = 0; i < 200; i++) {
        now += random.nextLong(0, 1 + window / limit);
        long permits = random.nextLong(1, 4);
        long instant = now;
        long counted =
            admitted.stream()
                .filter(each -> each.startNanos() > instant - window - late)
                .mapToLong(WindowChecker.Operation::permits)
                .sum();
        if (take(key, permits, limit, window, now) >= 0) {
          admitted.add(WindowChecker.Operation.admitted(key, permits, now));
        } else {
          assertThat(counted + permits)
              .as("run %d, -Dweir.seed=%d", run, Trials.SEED)
              .isGreaterThan(limit);
        }
      }
      assertThat(WindowChecker.maxInAnyWindow(admitted, window))
          .as("run %d, -Dweir.seed=%d", run, Trials.SEED)
          .isLessThanOrEqualTo(limit);
    }
  }

  @Test
  void otherLimitsOfOneLength_countTogether_andOtherLengthsApart() {
    assertThat(take("k", 2, 3, SECOND, 0)).isEqualTo(1);
    assertThat(take("k", 1, 5, SECOND, 0)).isEqualTo(2);
    assertThat(take("k", 1, 3, SECOND, 0)).isEqualTo(-1);
    assertThat(take("k", 1, 3, 2 * SECOND, 0)).isEqualTo(2);
    assertThat(request("k", 3, 1, 10, 0)).as("the bucket of the key").isEqualTo(2);
    List<Boolean> known = new ArrayList<>();
    buckets.reset(key(buckets, "k"), 0, known::add);
    buckets.reset(key(buckets, "k"), 0, known::add);
    assertThat(known).containsExactly(true, false);
    assertThat(take("k", 3, 3, SECOND, 0)).isZero();
    assertThat(take("k", 3, 3, 2 * SECOND, 0)).isZero();
  }

  @Test
  void lengthsOfWindows_areBounded_andThoseThatAreThereGoOn() {
    for (int i = 1; i <= CallerWindows.MAX_WINDOWS; i++) {
      assertThat(take("k", 1, 1, i * SECOND, 0)).isZero();
    }
    assertThatThrownBy(() -> buckets.window(1, 1_000 * SECOND, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "window: 1000000 ms (expected: one of at most 256 lengths that all callers have"
                + " together)");
    assertThat(take("k", 1, 1, SECOND, 0)).isEqualTo(-1);
    assertThat(take("k", 1, 2, 256 * SECOND, 0)).isZero();
    assertThat(buckets.countsOfAKey()).isEqualTo(257);
    for (int limit = 1; limit <= 10_000; limit++) { // More than are remembered.
      buckets.window(limit, SECOND, 0);
    }
    assertThat(take("k", 1, 1, SECOND, 0)).isEqualTo(-1);
  }

  /** A thread may have the binding of a length that is given up meanwhile. */
  @Test
  void bindingOfALengthThatWasGivenUp_countsWithThoseMadeLater() {
    Binding old = buckets.window(3, SECOND, 0);
    for (int i = 2; i <= CallerWindows.MAX_WINDOWS; i++) {
      take("k", 1, 1, i * SECOND, 0);
    }
    long now = 10 * SECOND;
    assertThatThrownBy(() -> buckets.window(1, 1_000 * SECOND, 10 * SECOND))
        .isInstanceOf(IllegalArgumentException.class);
    now += 10 * SECOND;
    assertThat(take("k", 1, 1, 1_000 * SECOND, now)).as("the second is given up").isZero();
    for (int i = 0; i < 100; i++) { // Each call goes through a part of the tables.
      store.expire(now + 10 * SECOND);
    }
    now += 10 * SECOND;
    int admitted = 0;
    for (int i = 0; i < 10; i++) {
      Batch batch = new Batch(1).add(old, key(buckets, "k"), 1);
      buckets.decide(batch, now, decided -> {});
      admitted += batch.allowed(0) ? 1 : 0;
      admitted += take("k", 1, 3, SECOND, now) >= 0 ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(3);
  }

  @Test
  void lengthsThatNobodyUses_areGivenUpWhenTheirCountsCannotMatter() {
    for (int i = 1; i <= CallerWindows.MAX_WINDOWS; i++) {
      take("k", 1, 1, i * SECOND, 0);
    }
    long now = 10 * SECOND;
    assertThatThrownBy(() -> buckets.window(1, 1_000 * SECOND, 10 * SECOND))
        .as("when a use is looked for the first time, all may be in use")
        .isInstanceOf(IllegalArgumentException.class);
    for (int i = 0; i < 2; i++) {
      now += 5 * SECOND;
      assertThat(take("k", 1, 1, SECOND, now)).isZero();
      assertThat(take("k", 1, 1, 256 * SECOND, now)).isEqualTo(-1);
    }
    assertThat(take("k", 1, 1, 1_000 * SECOND, now)).isZero();
    assertThat(buckets.countsOfAKey())
        .as("those of 2 to 4 s are over, 1 s and 256 s are used, the others may matter")
        .isEqualTo(1 + 256 - 3 + 1);
    assertThat(take("k", 1, 1, 2 * SECOND, now)).as("again").isZero();
    assertThat(take("k", 1, 1, 255 * SECOND, now)).isEqualTo(-1);
  }
}
