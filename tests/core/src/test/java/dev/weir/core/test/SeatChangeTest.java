package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seats whose rule changes while they are out. */
class SeatChangeTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEY = 42;

  /** The most by which the time of a key is ahead after a few changes. */
  private static final long STEPS = 100_000;

  private final MemoryStore store = new MemoryStore();

  private static Policy seats(long permits, long holdSeconds) {
    return Policy.concurrency(permits, Duration.ofSeconds(holdSeconds)).name("p").build();
  }

  private Binding bind(Policy policy, long now) {
    return store.bind("p", policy, now);
  }

  private Decision take(Binding binding, long now) {
    return store.decision(binding, KEY, 1, now);
  }

  @Test
  void shorterHold_takesNoSeatAway() {
    Decision first = take(bind(seats(1, 60), 0), 0);
    assertThat(first.allowed()).isTrue();
    Binding shorter = bind(seats(1, 10), SECOND);
    for (long now = 2 * SECOND; now < 60 * SECOND; now += SECOND) {
      assertThat(take(shorter, now).allowed()).as("at %d", now).isFalse();
    }
    Decision next = take(shorter, 60 * SECOND + STEPS);
    assertThat(next.allowed()).as("%s", next).isTrue();
    // A seat of the new hold ends with that, though one of the old would not.
    assertThat(take(shorter, 69 * SECOND).allowed()).isFalse();
    assertThat(take(shorter, 70 * SECOND + 2 * STEPS).allowed()).isTrue();
  }

  @Test
  void shorterHold_underBothBindings_neverGivesOutTwo() {
    Binding longer = bind(seats(1, 60), 0);
    Binding shorter = bind(seats(1, 10), 0);
    Decision first = take(longer, SECOND);
    assertThat(first.allowed()).isTrue();
    for (long now = 5 * SECOND; now < 200 * SECOND; now += 5 * SECOND) {
      assertThat(store.renew(longer, KEY, first, now)).as("at %d", now).isTrue();
      assertThat(take(shorter, now + SECOND).allowed()).as("at %d", now).isFalse();
      assertThat(take(longer, now + SECOND).allowed()).as("at %d", now).isFalse();
    }
  }

  @Test
  void changedHold_renewsAndGivesBackEarlierSeats() {
    for (long hold : new long[] {10, 120}) {
      try (MemoryStore fresh = new MemoryStore()) {
        Binding before = fresh.bind("p", seats(2, 60), 0);
        Decision first = fresh.decision(before, KEY, 1, 0);
        Decision second = fresh.decision(before, KEY, 1, 0);
        Binding after = fresh.bind("p", seats(2, hold), SECOND);
        for (long now = 5 * SECOND; now < 300 * SECOND; now += 5 * SECOND) {
          assertThat(fresh.renew(after, KEY, first, now)).isTrue();
          assertThat(fresh.renew(after, KEY, second, now)).isTrue();
          assertThat(fresh.decision(after, KEY, 1, now).allowed()).isFalse();
        }
        assertThat(fresh.refund(after, KEY, 1, first, 300 * SECOND)).isEqualTo(1);
        assertThat(fresh.refund(after, KEY, 1, first, 300 * SECOND)).isZero();
        Decision third = fresh.decision(after, KEY, 1, 300 * SECOND);
        assertThat(third.allowed()).isTrue();
        assertThat(fresh.decision(after, KEY, 1, 300 * SECOND).allowed()).isFalse();
        assertThat(fresh.refund(after, KEY, 1, second, 300 * SECOND)).isEqualTo(1);
        assertThat(fresh.refund(after, KEY, 1, third, 300 * SECOND)).isEqualTo(1);
        assertThat(fresh.decision(after, KEY, 2, 301 * SECOND).allowed()).isTrue();
      }
    }
  }

  /** The log of a rate has every seat that was taken, but no renewal. */
  @Test
  void rateInBetween_isNoWitnessOfRenewals() {
    Policy rate =
        Policy.builder(Quota.perHour(100))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .name("p")
            .build();
    assertThat(take(bind(rate, 0), 0).allowed()).isTrue();
    Binding binding = bind(seats(2, 60), SECOND);
    Decision seat = take(binding, SECOND);
    assertThat(seat.allowed()).isTrue();
    long now = SECOND;
    for (int i = 0; i < 150; i++) {
      now += 20 * SECOND;
      assertThat(store.renew(binding, KEY, seat, now)).isTrue();
    }
    Binding longer = bind(seats(1, 120), now + SECOND);
    assertThat(take(longer, now + 2 * SECOND).allowed()).isFalse();
  }

  /** Seats are lost by the time of their key, which must not run away from the clock. */
  @Test
  void manyChangesAtOneInstant_takeNoTimeFromOthers() {
    Binding binding = bind(seats(2, 1), 0);
    Decision held = take(binding, 0);
    assertThat(held.allowed()).isTrue();
    for (int i = 0; i < 2_000_000; i++) {
      Decision other = take(binding, 0);
      assertThat(other.allowed()).isTrue();
      assertThat(store.refund(binding, KEY, 1, other, 0)).isEqualTo(1);
    }
    assertThat(store.renew(binding, KEY, held, SECOND * 98 / 100)).isTrue();
  }

  @Test
  void largestLimit_isJournaled(@TempDir Path folder) throws Exception {
    try (MemoryStore journaled = MemoryStore.builder().journal(folder).build()) {
      assertThat(journaled.decision(journaled.bind("p", seats(10, 60), 0), KEY, 1, 0).allowed())
          .isTrue();
      Binding most = journaled.bind("p", seats(Policy.MOST_SEATS, 60), 1);
      assertThat(journaled.decision(most, KEY, 1, 2).allowed()).isTrue();
    }
  }
}
