package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rule stops lending: permits that were lent may still be spent for a while. */
class LentChangeTest {
  private static final long MILLI = 1_000_000L;
  private static final long START = 1_000_000L * MILLI;

  private final MemoryStore store = new MemoryStore();
  private final Policy strict = Policy.builder(new Quota(10, 1_000 * MILLI)).name("p").build();
  private final Policy lent =
      Policy.builder(strict.quota())
          .name("p")
          .sharing(
              Sharing.STRICT.consistency(Consistency.LEASED).syncInterval(Duration.ofMillis(200)))
          .build()
          .lent();

  private boolean admits(Binding binding, long permits, long atMillis) {
    return PackedDecision.allowed(store.decide(binding, 1, permits, START + atMillis * MILLI));
  }

  private Binding bind(Policy policy, long atMillis) {
    return store.bind("p", policy, START + atMillis * MILLI);
  }

  @Test
  void whatWasLent_countsUntilItsLastSpendingHasLeftTheWindow() {
    assertThat(admits(bind(lent, 0), 10, 0)).isTrue();
    Binding binding = bind(strict, 100);
    assertThat(admits(binding, 1, 1_000)).isFalse(); // It may have been spent at 200.
    assertThat(admits(binding, 1, 1_199)).isFalse();
    assertThat(admits(binding, 10, 1_200)).isTrue();
  }

  @Test
  void whatWasLentWhileTheStrictRuleWasAway_countsAsLongWhenItIsBack() {
    Binding first = bind(strict, 0);
    assertThat(admits(first, 1, 0)).isTrue();
    assertThat(admits(bind(lent, 100), 9, 100)).isTrue();
    Binding again = bind(strict, 200);
    assertThat(admits(again, 2, 1_100)).isFalse(); // The 9 may have been spent at 300.
    assertThat(admits(again, 9, 1_299)).isFalse();
    assertThat(admits(again, 9, 1_300)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(
      value = Algorithm.class,
      names = {"FIXED_WINDOW", "SLIDING_WINDOW_COUNTER"})
  void whatWasLent_countsInTheWindowInWhichItMayBeSpent(Algorithm aligned) {
    Policy byTheClock = Policy.builder(strict.quota()).name("p").algorithm(aligned).build();
    bind(byTheClock, 0);
    assertThat(admits(bind(lent, 0), 10, 900)).isTrue();
    Binding binding = bind(byTheClock, 950);
    assertThat(admits(binding, 1, 960)).isFalse();
    assertThat(admits(binding, 1, 1_000)).isFalse(); // It may be spent at 1,100, in this window.
    assertThat(admits(binding, 1, 1_099)).isFalse();
    assertThat(admits(binding, 10, 3_000)).isTrue();
  }

  @Test
  void lentRuleThatBecomesOneByTheClock_countsInTheWindowInWhichItMayBeSpent() {
    assertThat(admits(bind(lent, 0), 10, 900)).isTrue();
    Policy fixed =
        Policy.builder(strict.quota()).name("p").algorithm(Algorithm.FIXED_WINDOW).build();
    Binding binding = bind(fixed, 950);
    assertThat(admits(binding, 1, 1_050)).isFalse();
    assertThat(admits(binding, 10, 2_000)).isTrue();
  }

  @Test
  void strictRuleThatBecomesLent_countsWhatItAdmitted() {
    assertThat(admits(bind(strict, 0), 10, 0)).isTrue();
    Binding binding = bind(lent, 100);
    assertThat(admits(binding, 1, 999)).isFalse();
  }
}
