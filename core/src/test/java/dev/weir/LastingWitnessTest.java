package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
}
