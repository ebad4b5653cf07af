package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Images of stores: a restored store decides as the saved one would have. */
class StateImageTest {
  private static final long MAX_KEYS = 1 << 20;
  private static final long MAX_BYTES = 1 << 28;
  private static final long MINUTE = 60_000_000_000L;

  /** An instant in the middle of a minute. */
  private static final long START = 28_000_000L * MINUTE + MINUTE / 2;

  private final SplittableRandom random = new SplittableRandom(Seed.SEED);

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(new Quota(permits, MINUTE)).name("p").algorithm(algorithm).build();
  }

  private static byte[] image(MemoryStore store) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    store.save(out);
    return out.toByteArray();
  }

  private static MemoryStore restored(byte[] image, long known, long now) throws IOException {
    return MemoryStore.restored(new ByteArrayInputStream(image), MAX_KEYS, MAX_BYTES, known, now);
  }

  private static MemoryStore fresh() {
    return new MemoryStore(MAX_KEYS, MAX_BYTES);
  }

  /** Charges keys 1 to 50 over some minutes; returns the time of the last. */
  private long charge(MemoryStore store, Binding binding, int requests) {
    long now = START;
    for (int i = 0; i < requests; i++) {
      now += random.nextLong(MINUTE / 50);
      store.decide(binding, random.nextInt(1, 51), random.nextInt(1, 4), now);
    }
    return now;
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void restored_decidesAsTheStoreThatWasSaved(Algorithm algorithm) throws IOException {
    int runs = 20;
    Seed.report("StateImageTest, restored, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      MemoryStore store = fresh();
      Policy policy = policy(algorithm, random.nextInt(1, 300));
      Binding binding = store.bind("p", policy, START);
      long now = charge(store, binding, 300);

      MemoryStore other = restored(image(store), now, now);
      Binding again = other.bind("p", policy, now);

      other.verify();
      assertThat(other.fingerprint().of("a key")).isEqualTo(store.fingerprint().of("a key"));
      for (int i = 0; i < 300; i++) {
        now += random.nextLong(MINUTE / 50);
        long key = random.nextInt(1, 51);
        long permits = random.nextInt(0, 4);
        assertThat(other.decide(again, key, permits, now))
            .as("seed %s, %s", Seed.SEED, policy)
            .isEqualTo(store.decide(binding, key, permits, now));
      }
    }
  }

  /**
   * Restores by another clock, which differs by as much as a reboot, or a step of the wall clock,
   * can change it.
   */
  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void restoredByAnotherClock_admitsNoMore(Algorithm algorithm) throws IOException {
    int runs = 50;
    Seed.report("StateImageTest, another clock, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      MemoryStore store = fresh();
      Policy policy = policy(algorithm, random.nextInt(1, 300));
      Binding binding = store.bind("p", policy, START);
      long then = charge(store, binding, 100);
      long now = then + random.nextLong(-100 * MINUTE, 100 * MINUTE);

      MemoryStore other = restored(image(store), then, now);
      Binding again = other.bind("p", policy, now);

      other.verify();
      for (long key = 1; key <= 50; key++) {
        long before = remaining(store, binding, key, then);
        long after = remaining(other, again, key, now);
        assertThat(after)
            .as("seed %s, %s, key %s", Seed.SEED, policy, key)
            .isLessThanOrEqualTo(before);
        if (exact(policy)) {
          assertThat(after).as("seed %s, %s, key %s", Seed.SEED, policy, key).isEqualTo(before);
        }
      }
      // Everything charged is forgotten in the end.
      long later = now + 3 * policy.shape().memoryNanos();
      assertThat(remaining(other, again, 7, later)).isEqualTo(policy.burst());
    }
  }

  private static boolean exact(Policy policy) {
    Algorithm counting = policy.shape().algorithm();
    return counting.bucket()
        || counting == Algorithm.SLIDING_WINDOW_LOG
        || counting == Algorithm.FIXED_WINDOW;
  }

  private static long remaining(MemoryStore store, Binding binding, long key, long now) {
    return PackedDecision.remaining(store.decide(binding, key, 0, now));
  }

  @Test
  void restored_keepsWitnessesOfChangedRules() throws IOException {
    MemoryStore store = fresh();
    Policy log = policy(Algorithm.SLIDING_WINDOW_LOG, 10);
    Policy bucket = policy(Algorithm.TOKEN_BUCKET, 10);
    Binding binding = store.bind("p", log, START);
    assertThat(PackedDecision.allowed(store.decide(binding, 1, 10, START))).isTrue();
    store.bind("p", bucket, START);

    MemoryStore other = restored(image(store), START, START);
    Binding again = other.bind("p", bucket, START);

    assertThat(PackedDecision.allowed(other.decide(again, 1, 1, START))).isFalse();
    assertThat(PackedDecision.allowed(other.decide(again, 2, 1, START))).isTrue();
  }

  @Test
  void restored_forgetsNamesThatAreNotBoundAgain() throws IOException {
    MemoryStore store = fresh();
    charge(store, store.bind("p", policy(Algorithm.TOKEN_BUCKET, 9), START), 100);
    MemoryStore other = restored(image(store), START, START);
    assertThat(other.keys()).isPositive();

    other.expire(START + 100 * MINUTE);

    assertThat(other.keys()).isZero();
    other.verify();
  }

  @Test
  void restored_beyondTheBounds_keepsWhatCounts() throws IOException {
    MemoryStore store = fresh();
    Policy policy = policy(Algorithm.FIXED_WINDOW, 1);
    Binding binding = store.bind("p", policy, START);
    for (long key = 1; key <= 100; key++) {
      store.decide(binding, key, 1, START);
    }
    MemoryStore other =
        MemoryStore.restored(new ByteArrayInputStream(image(store)), 10, MAX_BYTES, START, START);
    Binding again = other.bind("p", policy, START);

    assertThat(other.keys()).isEqualTo(100);
    for (long key = 1; key <= 101; key++) {
      assertThat(PackedDecision.allowed(other.decide(again, key, 1, START))).isFalse();
    }
  }

  @Test
  void cellsOfAnotherSize_leaveTheirKeysUnknown() throws IOException {
    MemoryStore store = new MemoryStore(16, MAX_BYTES);
    Policy policy =
        Policy.builder(new Quota(1, MINUTE)).name("p").whenFull(FullMode.SKETCH).build();
    Binding binding = store.bind("p", policy, START);
    for (long key = 1; key <= 40; key++) {
      store.decide(binding, key << 40, 1, START);
    }
    MemoryStore other = restored(image(store), START, START);
    Binding again = other.bind("p", policy, START);
    for (long key = 1; key <= 40; key++) {
      assertThat(PackedDecision.allowed(other.decide(again, key << 40, 1, START))).isFalse();
    }
    assertThat(PackedDecision.allowed(other.decide(again, 3, 1, START + MINUTE))).isTrue();
  }

  @Test
  void damagedImage_isRefused() throws IOException {
    MemoryStore store = fresh();
    charge(store, store.bind("p", policy(Algorithm.SLIDING_WINDOW, 100), START), 30);
    byte[] image = image(store);
    Seed.report("StateImageTest, damaged bytes", image.length);
    for (int i = 0; i < image.length; i++) {
      byte[] flipped = image.clone();
      flipped[i] ^= (byte) (1 << random.nextInt(8));
      byte[] cut = Arrays.copyOf(image, i);
      assertThatThrownBy(() -> restored(flipped, START, START))
          .as("seed %s, byte %s", Seed.SEED, i)
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> restored(cut, START, START)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void saving_whileOthersDecide_losesNoKeyThatWasThere() throws Exception {
    MemoryStore store = fresh();
    Policy policy = policy(Algorithm.FIXED_WINDOW, 1);
    Binding binding = store.bind("p", policy, START);
    for (long key = 1; key <= 20_000; key++) {
      store.decide(binding, key * 0x9e3779b97f4a7c15L, 1, START);
    }
    AtomicBoolean saved = new AtomicBoolean();
    Thread decider =
        new Thread(
            () -> {
              for (long key = 20_001; !saved.get() && key <= 400_000; key++) {
                store.decide(binding, key * 0x9e3779b97f4a7c15L, 1, START);
              }
            });
    decider.start();
    byte[] image = image(store);
    saved.set(true);
    decider.join();

    MemoryStore other = restored(image, START, START);
    Binding again = other.bind("p", policy, START);
    other.verify();
    for (long key = 1; key <= 20_000; key++) {
      assertThat(PackedDecision.allowed(other.decide(again, key * 0x9e3779b97f4a7c15L, 1, START)))
          .isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void unknownPast_refusesUntilItsWindowHasPassed(Algorithm algorithm) {
    MemoryStore store = fresh();
    store.unknownBefore(START);
    Policy policy = policy(algorithm, 10);
    Binding binding = store.bind("p", policy, START);

    assertThat(PackedDecision.allowed(store.decide(binding, 1, 1, START))).isFalse();
    assertThat(PackedDecision.allowed(store.decide(binding, 1, 10, START + 2 * MINUTE + 1)))
        .isTrue();
    MemoryStore forgiven = fresh();
    forgiven.unknownBefore(START);
    Binding again = forgiven.bind("p", policy, START);
    forgiven.forgetUnknown();
    assertThat(PackedDecision.allowed(forgiven.decide(again, 1, 10, START))).isTrue();
    store.expire(START + 3 * MINUTE);
    assertThat(PackedDecision.allowed(store.decide(binding, 2, 10, START + 3 * MINUTE))).isTrue();
    store.verify();
  }

  @Test
  void unknownPast_ofALargerOrSlowerVariant_isUnknownAsLong() {
    MemoryStore store = fresh();
    store.unknownBefore(START);
    Binding binding = store.bind("p", policy(Algorithm.TOKEN_BUCKET, 10), START);
    long hour = 60 * MINUTE;
    Policy slow =
        Policy.builder(new Quota(10, hour)).name("p").algorithm(Algorithm.TOKEN_BUCKET).build();
    store.expire(START + 3 * MINUTE);
    Binding variant = store.variant(binding, slow);

    assertThat(PackedDecision.allowed(store.decide(variant, 1, 2, START + 6 * MINUTE))).isFalse();
    assertThat(PackedDecision.allowed(store.decide(variant, 1, 1, START + 7 * MINUTE))).isTrue();
    assertThat(PackedDecision.allowed(store.decide(variant, 1, 1, START + 7 * MINUTE))).isFalse();
    assertThatThrownBy(() -> store.unknownBefore(START)).isInstanceOf(IllegalStateException.class);
  }
}
