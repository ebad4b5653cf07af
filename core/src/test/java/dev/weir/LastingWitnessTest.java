package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The counts of reservations and of debts after a change of rules, until they are over. */
class LastingWitnessTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEY = 7;
  private static final Policy FIXED =
      Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.FIXED_WINDOW).build();

  private MemoryStore store = new MemoryStore();

  private Charges decide(Charges charges, long now) {
    store.decide(charges, now);
    return charges;
  }

  private void restart(boolean really, long now) throws IOException {
    if (really) {
      ByteArrayOutputStream image = new ByteArrayOutputStream();
      store.save(image);
      store =
          MemoryStore.restored(
              new ByteArrayInputStream(image.toByteArray()), 1_000, 1L << 30, now, now);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void reservation_afterAChangeOfAlgorithm_countsAtItsInstant(boolean restart) throws IOException {
    Policy log = Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    Binding before = store.bind("a", log, 0);
    for (int i = 0; i < 10; i++) {
      Charges reserved = decide(new Charges().add(before, KEY, 1).maxWait(60 * SECOND), 0);
      assertThat(reserved.retryAfterNanos(0)).isEqualTo(i * SECOND);
    }
    restart(restart, 0);
    Binding after = store.bind("a", FIXED, 0);

    long later = 8 * SECOND + 500_000_000;
    store.expire(later);
    assertThat(decide(new Charges().add(after, KEY, 1), later).allowed()).isFalse();
    assertThat(decide(new Charges().add(after, KEY, 1), 11 * SECOND).allowed()).isTrue();
    store.expire(60 * SECOND);
    assertThat(store.tables(after)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void debt_afterAChangeOfAlgorithm_isOwedUntilItHasRefilled(boolean restart) throws IOException {
    Policy bucket = Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.TOKEN_BUCKET).build();
    Binding before = store.bind("a", bucket, 0);
    decide(new Charges().add(before, KEY, 20, Charges.Role.REPORTED), 0);
    restart(restart, 0);
    Binding after = store.bind("a", FIXED, 0);

    store.expire(10 * SECOND);
    assertThat(decide(new Charges().add(after, KEY, 1), 10 * SECOND).allowed()).isFalse();
    assertThat(decide(new Charges().add(after, KEY, 1), 21 * SECOND).allowed()).isTrue();
    store.expire(60 * SECOND);
    assertThat(store.tables(after)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void reservationTakenOverByALaterTable_countsThereUntilItIsOver(boolean restart)
      throws IOException {
    Policy brief =
        Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    Policy half =
        Policy.builder(new Quota(20, 30 * SECOND)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
    Binding first = store.bind("a", brief, 0);
    for (int i = 0; i < 60; i++) {
      decide(new Charges().add(first, KEY, 1).maxWait(90 * SECOND), 0);
    }
    Binding second = store.bind("a", half, SECOND / 10);
    decide(new Charges().add(second, KEY, 1, Charges.Role.REPORTED), SECOND / 5);
    restart(restart, SECOND / 5);
    Binding third = store.bind("a", FIXED, SECOND / 4);
    assertThat(store.tables(third)).hasSize(3);

    store.expire(60 * SECOND + SECOND / 2);
    store.expire(61 * SECOND + SECOND / 4);
    Binding again = store.bind("a", half, 61 * SECOND + SECOND / 3);
    assertThat(decide(new Charges().add(again, KEY, 1), 61 * SECOND + SECOND / 2).allowed())
        .isFalse();
  }

  @Test
  void debtThatWasForgotten_keepsNoWitness() {
    Policy bucket = Policy.builder(Quota.perSecond(1)).algorithm(Algorithm.TOKEN_BUCKET).build();
    Binding before = store.bind("a", bucket, 0);
    decide(new Charges().add(before, KEY, 1_000_000, Charges.Role.REPORTED), 0);
    assertThat(store.reset(before, KEY, 0)).isTrue();
    Binding after = store.bind("a", FIXED, 0);
    store.expire(60 * SECOND);
    assertThat(store.tables(after)).hasSize(1);
  }

  /** A replica that goes on from an image has no trace of debts that were forgotten before it. */
  @Test
  void forgottenDebt_makesNoDifferenceToAReplica() throws IOException {
    Policy.Builder bucket = Policy.builder(Quota.perSecond(100)).algorithm(Algorithm.TOKEN_BUCKET);
    Binding before = store.bind("a", bucket.build(), 0);
    decide(new Charges().add(before, KEY, 1_000_000, Charges.Role.REPORTED), 0);
    Policy low = bucket.build().withPermits(10);
    Binding between = store.bind("a", low, SECOND);
    assertThat(store.reset(between, KEY, SECOND)).isTrue();
    MemoryStore replica = Replica.resumed(Replica.image(store));
    long later = 60 * SECOND;
    for (MemoryStore each : List.of(store, replica)) {
      Binding after = each.bind("a", bucket.build().withPermits(5), later);
      assertThat(each.decide(after, KEY, 1, later)).isNotNegative();
    }

    long then = later + 10;
    assertThat(replica.lift(0, -1, then)).isEqualTo(store.lift(0, -1, then));
  }
}
