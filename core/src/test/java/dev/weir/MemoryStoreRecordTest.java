package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits that were admitted elsewhere count here, whether they fit or not. */
class MemoryStoreRecordTest {
  private static final long WINDOW = 60_000_000_000L;

  /** The first instant of a window. */
  private static final long START = 1_000 * WINDOW;

  private static final long KEY = 77;

  private final MemoryStore store = new MemoryStore(1_000);

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(new Quota(permits, WINDOW)).name("p").algorithm(algorithm).build();
  }

  private Binding bind(Algorithm algorithm, long permits) {
    return store.bind("p", policy(algorithm, permits), START);
  }

  private long remaining(Binding binding, long now) {
    return PackedDecision.remaining(store.decide(binding, KEY, 0, now));
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void whatFits_countsAsACharge(Algorithm algorithm) {
    Binding binding = bind(algorithm, 10);

    Decision after = store.record(binding, KEY, 4, START);

    assertThat(after.allowed()).isTrue();
    assertThat(after.reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(after.limit()).isEqualTo(10);
    assertThat(after.atNanos()).isEqualTo(START);
    assertThat(after.resetAfterNanos()).isPositive();
    assertThat(after.remaining()).isEqualTo(6);
    assertThat(remaining(binding, START)).isEqualTo(after.remaining());
    Binding other = store.bind("q", policy(algorithm, 10).named("q"), START);
    Charges charged = new Charges().add(other, KEY, 4);
    store.decide(charged, START);
    assertThat(after.resetAfterNanos()).isEqualTo(charged.resetAfterNanos(0));
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void whatDoesNotFit_countsToo(Algorithm algorithm) {
    Binding binding = bind(algorithm, 10);
    assertThat(PackedDecision.allowed(store.decide(binding, KEY, 9, START))).isTrue();

    assertThat(store.record(binding, KEY, 25, START).remaining()).isZero();
    assertThat(store.record(binding, KEY, 1L << 40, START).remaining()).isZero();

    assertThat(PackedDecision.allowed(store.decide(binding, KEY, 1, START))).isFalse();
    assertThat(PackedDecision.allowed(store.decide(binding, KEY, 1, START + WINDOW - 1)))
        .isEqualTo(algorithm.bucket());
    assertThat(remaining(binding, START + 3 * WINDOW)).isEqualTo(10);
    store.verify();
  }

  @Test
  void recorded_countsForEarlierPoliciesOfTheName() {
    Binding log = bind(Algorithm.SLIDING_WINDOW_LOG, 10);
    assertThat(PackedDecision.allowed(store.decide(log, 1, 1, START))).isTrue();
    Binding fixed = bind(Algorithm.FIXED_WINDOW, 10);

    store.record(fixed, KEY, 7, START);

    Binding again = bind(Algorithm.SLIDING_WINDOW_LOG, 10);
    assertThat(remaining(again, START)).isEqualTo(3);
    assertThat(remaining(fixed, START)).isEqualTo(3);
  }

  @Test
  void nothing_isAViewOnly() {
    Binding binding = bind(Algorithm.FIXED_WINDOW, 10);
    assertThat(store.record(binding, KEY, 0, START).remaining()).isEqualTo(10);
    assertThat(store.keys()).isZero();
    assertThatThrownBy(() -> store.record(binding, KEY, -1, START))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void recorded_canBeGivenBack() {
    Binding binding = bind(Algorithm.SLIDING_WINDOW_LOG, 10);
    Decision after = store.record(binding, KEY, 15, START);
    assertThat(store.refund(binding, KEY, 10, after, START + 5)).isEqualTo(10);
    assertThat(remaining(binding, START + 5)).isEqualTo(5);
  }

  @Test
  void withoutRoom_nothingIsCounted() {
    MemoryStore small = new MemoryStore(1);
    Binding binding = small.bind("p", policy(Algorithm.FIXED_WINDOW, 10), START);
    assertThat(small.record(binding, 1, 1, START).allowed()).isTrue();

    Decision refused = small.record(binding, 2, 1, START);

    assertThat(refused.allowed()).isFalse();
    assertThat(refused.reason()).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(small.keys()).isEqualTo(1);
  }
}
