package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The steps of one key under the locks of its segments, as SlowPath calls them. */
class LockedKeyTest {
  private static final long W = 1_000_000_000L;
  private static final long KEY = 42;

  private final MemoryStore store = new MemoryStore(1_000);
  private final SegmentLocks locks = new SegmentLocks();
  private final LockedKey key = new LockedKey();

  private static MemoryBinding bind(MemoryStore store, Algorithm algorithm, long permits) {
    Policy policy = Policy.builder(new Quota(permits, W)).algorithm(algorithm).build();
    return (MemoryBinding) store.bind("rule", policy, 0);
  }

  private MemoryBinding bind(Algorithm algorithm, long permits) {
    return bind(store, algorithm, permits);
  }

  private void lock(MemoryBinding binding, long fingerprint, long permits, long now) {
    key.hold(binding, fingerprint, permits);
    key.readTables(now);
    key.addTo(locks);
    assertThat(locks.lock()).isTrue();
    assertThat(key.isCurrent()).isTrue();
    key.find(now);
  }

  private void unlock() {
    locks.unlock();
    key.release();
  }

  private long remaining(MemoryBinding binding, long now) {
    lock(binding, KEY, 1, now);
    long remaining = key.remaining();
    unlock();
    return remaining;
  }

  private void charge(MemoryBinding binding, long permits, long now) {
    lock(binding, KEY, permits, now);
    assertThat(key.waitNanos(0)).isZero();
    assertThat(key.takeRoom(now)).isTrue();
    key.charge(0, now);
    unlock();
  }

  @Test
  void newKey_isFresh_andReadingItTakesNoRoom() {
    assertThat(remaining(bind(Algorithm.SLIDING_WINDOW_LOG, 10), 0)).isEqualTo(10);
    assertThat(store.keys()).isZero();
  }

  @Test
  void chargedKey_keepsItsSlotAndItsCount() {
    MemoryBinding binding = bind(Algorithm.SLIDING_WINDOW_LOG, 10);
    charge(binding, 4, 0);
    charge(binding, 3, 5);

    assertThat(remaining(binding, 5)).isEqualTo(3);
    assertThat(remaining(binding, W)).isEqualTo(7);
    assertThat(store.keys()).isEqualTo(1);
    store.verify();
  }

  @Test
  void permitsOfTheSameRequest_addUp() {
    MemoryBinding binding = bind(Algorithm.FIXED_WINDOW, 10);
    lock(binding, KEY, 6, 0);
    assertThat(key.waitNanos(4)).isZero();
    assertThat(key.waitNanos(5)).isEqualTo(Decision.NEVER);
    LockedKey other = new LockedKey();
    other.hold(binding, KEY, 1);
    assertThat(key.isSameAs(other)).isTrue();
    other.hold(binding, KEY + 1, 1);
    assertThat(key.isSameAs(other)).isFalse();
    unlock();
  }

  @Test
  void newAlgorithm_startsWithWhatTheWitnessKnows_andTheWitnessRecords() {
    charge(bind(Algorithm.SLIDING_WINDOW_LOG, 10), 4, 0);

    MemoryBinding fixed = bind(Algorithm.FIXED_WINDOW, 10);
    assertThat(remaining(fixed, 1)).isEqualTo(6);
    charge(fixed, 1, 1);
    assertThat(store.keys()).isEqualTo(2); // A slot in each of the two tables.

    assertThat(remaining(bind(Algorithm.SLIDING_WINDOW_LOG, 10), 2)).isEqualTo(5);
    store.verify();
  }

  @Test
  void tablesThatChangeBeforeTheyAreLocked_areNotCurrent() {
    MemoryBinding binding = bind(Algorithm.SLIDING_WINDOW_LOG, 10);
    key.hold(binding, KEY, 1);
    key.readTables(0);
    key.addTo(locks);
    bind(Algorithm.FIXED_WINDOW, 10);

    locks.lock();
    assertThat(key.isCurrent()).isFalse();
    unlock();
  }

  @Test
  void fullStore_hasRoomOnlyForKeysThatHaveASlot() {
    MemoryStore small = new MemoryStore(1);
    MemoryBinding binding = bind(small, Algorithm.FIXED_WINDOW, 10);
    charge(binding, 1, 0);

    lock(binding, KEY + 1, 1, W - 1);
    assertThat(key.takeRoom(W - 1)).isFalse();
    unlock();
    lock(binding, KEY, 1, W - 1);
    assertThat(key.takeRoom(W - 1)).isTrue(); // It has its slot already.
    unlock();
    assertThat(small.keys()).isEqualTo(1);
  }

  @Test
  void roomThatIsNotUsed_isGivenBack() {
    lock(bind(Algorithm.FIXED_WINDOW, 10), KEY, 1, 0);
    assertThat(key.takeRoom(0)).isTrue();
    assertThat(store.keys()).isEqualTo(1);
    key.giveRoomBack();
    unlock();
    assertThat(store.keys()).isZero();
  }

  @Test
  void reset_forgetsTheKeyInEveryTable() {
    charge(bind(Algorithm.SLIDING_WINDOW_LOG, 10), 4, 0);
    MemoryBinding fixed = bind(Algorithm.FIXED_WINDOW, 10);
    charge(fixed, 1, 0);

    lock(fixed, KEY, 0, 1);
    assertThat(key.reset(0)).isTrue();
    assertThat(key.reset(0)).isFalse();
    unlock();
    assertThat(store.keys()).isZero();
    assertThat(remaining(fixed, 1)).isEqualTo(10);
  }

  @Test
  void refund_givesBackWhatStillCounts() {
    MemoryBinding binding = bind(Algorithm.FIXED_WINDOW, 10);
    charge(binding, 4, 0);
    Decision charged = new Decision(true, Reason.WITHIN_LIMIT, "rule", 10, 6, 0, W, 0);

    lock(binding, KEY, 3, 1);
    assertThat(key.refund(charged, 1)).isEqualTo(3);
    assertThat(key.refund(charged, 1)).isEqualTo(1);
    assertThat(key.refund(charged, W)).isZero();
    unlock();
    assertThat(remaining(binding, 1)).isEqualTo(10);
  }
}
