package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keys that move from one store to another one, whose clock shows another time. */
class SlotImageTest {
  private static final long WINDOW = 1_000_000;

  /** The keys of one slot of 4,096. */
  private static final long FIRST = 0x123L << 52;

  private static final long LAST = FIRST | -1L >>> 12;

  private final SplittableRandom random = new SplittableRandom(Seed.SEED);

  private static MemoryStore fresh() {
    return MemoryStore.unbounded(Fingerprint.seeded(1, 2));
  }

  private static Policy policy(Algorithm algorithm, long permits, long window) {
    Policy.Builder builder =
        Policy.builder(new Quota(permits, window)).name("p").algorithm(algorithm);
    return algorithm.granular()
        ? builder.granularity(Duration.ofNanos(window / 8)).build()
        : builder.build();
  }

  private static long key(long number) {
    return FIRST + number;
  }

  private static void move(MemoryStore from, long then, MemoryStore to, long now)
      throws IOException {
    byte[] lifted = from.lift(FIRST, LAST, then);
    from.drop(FIRST, LAST);
    to.lay(lifted, now);
    from.verify();
    to.verify();
  }

  private static String decided(MemoryStore store, Binding binding, Charges charges, long now) {
    store.decide(charges, now);
    return charges.allowed()
        + " "
        + charges.remaining(0)
        + " "
        + charges.retryAfterNanos(0)
        + " "
        + charges.resetAfterNanos(0)
        + " "
        + (charges.atNanos(0) - now)
        + binding.name();
  }

  /**
   * Compares with a store that keeps its keys: moved by whole windows, every shape stays as it is.
   */
  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void movedKey_isDecidedAsIfItHadStayed(Algorithm algorithm) throws IOException {
    int runs = 100;
    Seed.report("SlotImageTest, moved keys, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      Policy policy = policy(algorithm, random.nextInt(1, 300), WINDOW);
      boolean any = algorithm.bucket() || algorithm == Algorithm.SLIDING_WINDOW_LOG;
      long delta = any ? random.nextLong(-1L << 40, 1L << 40) : random.nextInt(-99, 99) * WINDOW;
      MemoryStore stays = fresh();
      MemoryStore first = fresh();
      MemoryStore second = fresh();
      long now = random.nextLong(1L << 45);
      Binding stayed = stays.bind("p", policy, now);
      Binding before = first.bind("p", policy, now);
      for (int i = 0; i < 200; i++) {
        now += random.nextLong(WINDOW / 40);
        Charges one = new Charges().add(stayed, key(random.nextInt(9)), random.nextInt(1, 4));
        Charges same = new Charges().add(before, one.fingerprint(0), one.permits(0));
        assertThat(decided(first, before, same, now)).isEqualTo(decided(stays, stayed, one, now));
      }
      move(first, now, second, now + delta);
      assertThat(first.keys()).isZero();
      Binding after = second.bind("p", policy, now + delta);
      for (int i = 0; i < 300; i++) {
        now += random.nextLong(WINDOW / 40);
        Charges one = new Charges().add(stayed, key(random.nextInt(9)), random.nextInt(1, 4));
        Charges same = new Charges().add(after, one.fingerprint(0), one.permits(0));
        if (random.nextInt(5) == 0) {
          long wait = random.nextLong(2 * WINDOW);
          one.maxWait(wait);
          same.maxWait(wait);
        }
        assertThat(decided(second, after, same, now + delta))
            .as("seed %s, %s, %s", Seed.SEED, policy, delta)
            .isEqualTo(decided(stays, stayed, one, now));
      }
    }
  }

  /** Permits that a shortened window would admit too early wait, even for new keys. */
  @Test
  void fixedWindowThatIsCutShort_isFollowedByAPause() throws IOException {
    Policy ten = policy(Algorithm.FIXED_WINDOW, 10, WINDOW);
    MemoryStore first = fresh();
    MemoryStore second = fresh();
    Binding before = first.bind("p", ten, 0);
    assertThat(PackedDecision.allowed(first.decide(before, key(1), 10, WINDOW - 1))).isTrue();
    long then = WINDOW + WINDOW / 10;
    first.expire(then);
    long now = 5 * WINDOW + 9 * WINDOW / 10;
    move(first, then, second, now);
    Binding after = second.bind("p", ten, now);

    assertThat(PackedDecision.allowed(second.decide(after, key(1), 10, now))).isTrue();
    long edge = 6 * WINDOW;
    long late = second.decide(after, key(1), 10, edge);
    assertThat(PackedDecision.allowed(late)).isFalse();
    assertThat(PackedDecision.retryAfterNanos(late)).isEqualTo(8 * WINDOW / 10);
    assertThat(PackedDecision.allowed(second.decide(after, LAST + 1, 10, edge))).isTrue();
    Charges queued = new Charges().add(after, key(2), 1).maxWait(WINDOW);
    second.decide(queued, edge);
    assertThat(queued.retryAfterNanos(0)).isEqualTo(8 * WINDOW / 10);
    MemoryStore resumed = Replica.resumed(Replica.image(second));
    Binding again = resumed.rebound("p", ten);
    assertThat(resumed.decide(again, key(1), 10, edge)).isEqualTo(late);
    second.expire(edge + 8 * WINDOW / 10);
    assertThat(PackedDecision.allowed(second.decide(after, key(1), 10, edge + 8 * WINDOW / 10)))
        .isTrue();
  }

  /** Moves the witnesses with the keys, so that a change of rules before the move is remembered. */
  @Test
  void changedRules_areRemembered() throws IOException {
    MemoryStore first = fresh();
    MemoryStore second = fresh();
    Binding log = first.bind("p", policy(Algorithm.SLIDING_WINDOW_LOG, 10, WINDOW), 0);
    assertThat(PackedDecision.allowed(first.decide(log, key(1), 10, 0))).isTrue();
    Policy bucket = policy(Algorithm.TOKEN_BUCKET, 10, WINDOW);
    first.bind("p", bucket, 0);
    move(first, 0, second, 77);
    Binding after = second.bind("p", bucket, 77);

    assertThat(PackedDecision.allowed(second.decide(after, key(1), 1, 78))).isFalse();
    assertThat(PackedDecision.allowed(second.decide(after, key(2), 10, 78))).isTrue();
    assertThat(PackedDecision.allowed(second.decide(after, key(1), 10, 78 + 2 * WINDOW))).isTrue();
    second.expire(78 + 9 * WINDOW);
    second.verify();
  }

  @Test
  void storesThatHaveDecidedTheSame_liftTheSame() throws IOException {
    int runs = 200;
    Seed.report("SlotImageTest, same decisions", runs);
    for (int trial = 0; trial < runs; trial++) {
      Operations operations = new Operations(random.split(), trial % 50 == 1);
      Replica one = new Replica(fresh());
      for (int i = random.nextInt(300); i >= 0; i--) {
        one.apply(operations.next());
      }
      Replica other = new Replica(Replica.resumed(Replica.image(one.store)));
      for (int i = random.nextInt(100); i >= 0; i--) {
        Replica.Entry entry = operations.next();
        one.apply(entry);
        other.sweep(entry.now());
        other.apply(entry);
      }
      byte[] lifted = one.store.lift(0, -1, operations.now());
      assertThat(other.store.lift(0, -1, operations.now()))
          .as("-Dweir.seed=%s, trial %s", Seed.SEED, trial)
          .isEqualTo(lifted);
      long keys = one.store.keys();
      one.store.drop(0, -1);
      one.store.verify();
      assertThat(one.store.keys()).isZero();
      one.store.lay(lifted, operations.now());
      one.store.verify();
      assertThat(one.store.keys()).isLessThanOrEqualTo(keys);
      assertThat(one.store.lift(0, -1, operations.now())).isEqualTo(lifted);
    }
  }

  @Test
  void otherKeys_areNotTouched() throws IOException {
    MemoryStore store = fresh();
    Policy one = policy(Algorithm.FIXED_WINDOW, 1, WINDOW);
    Binding binding = store.bind("p", one, 0);
    for (int i = 0; i < 30_000; i++) {
      store.decide(binding, random.nextInt(3) == 0 ? key(i) : random.nextLong(), 1, 0);
    }
    long keys = store.keys();
    byte[] lifted = store.lift(FIRST, LAST, 0);
    assertThat(store.keys()).isEqualTo(keys);
    store.drop(FIRST, LAST);
    store.verify();
    MemoryStore other = fresh();
    other.lay(lifted, 5);
    other.verify();
    assertThat(other.keys()).isBetween(8_000L, 12_000L);
    assertThat(store.keys() + other.keys()).isEqualTo(keys);
    assertThatIllegalStateException().isThrownBy(() -> other.lay(lifted, 6));
    assertThat(store.keys() + other.keys()).isEqualTo(keys);
    assertThatIllegalArgumentException().isThrownBy(() -> store.lift(1, 0, 0));
  }

  @Test
  void damagedBytes_changeNothing() throws IOException {
    MemoryStore store = fresh();
    Binding binding = store.bind("p", policy(Algorithm.SLIDING_WINDOW, 100, WINDOW), 0);
    for (int i = 0; i < 30; i++) {
      store.decide(binding, key(random.nextInt(9)), random.nextInt(1, 3), i);
    }
    byte[] lifted = store.lift(FIRST, LAST, 40);
    MemoryStore other = fresh();
    byte[] before = Replica.image(other);
    Seed.report("SlotImageTest, damaged bytes", lifted.length);
    for (int i = 0; i < lifted.length; i++) {
      byte[] flipped = lifted.clone();
      flipped[i] ^= (byte) (1 << random.nextInt(8));
      byte[] cut = Arrays.copyOf(lifted, i);
      assertThatThrownBy(() -> other.lay(flipped, 50))
          .as("-Dweir.seed=%s, byte %s", Seed.SEED, i)
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> other.lay(cut, 50)).isInstanceOf(IOException.class);
    }
    assertThat(Replica.image(other)).isEqualTo(before);
    MemoryStore full = new MemoryStore(1);
    full.unknownBefore(0);
    full.bind("p", policy(Algorithm.FIXED_WINDOW, 1, WINDOW), 0);
    assertThatIllegalStateException().isThrownBy(() -> full.lift(FIRST, LAST, 0));
  }
}
