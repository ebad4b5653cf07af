package dev.weir.siege.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.SiegeRule;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A test of the watch itself: finding nothing wrong proves something only if it finds real errors.
 */
class WindowWatchTest {
  private static final SiegeRule RULE = SoakRules.STRICT;
  private static final long LIMIT = RULE.permits();
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final WindowWatch watch = new WindowWatch();
  private long now = System.nanoTime();

  /** Enters admissions of a millisecond each, one after the other, within one window. */
  private void admit(long count) {
    for (long i = 0; i < count; i++) {
      watch.admitted(RULE, "key", now, now + MILLI);
      now += MILLI;
    }
  }

  @Test
  void asManyAsTheLimit_areInOrder() {
    admit(LIMIT);
    assertThat(watch.check()).isEmpty();
  }

  @Test
  void oneTooMany_isFound() {
    admit(LIMIT + 1);
    assertThat(watch.check())
        .singleElement()
        .asString()
        .startsWith("rule strict, key key: 41 permits");
  }

  @Test
  void oneTooManyOverTwoLooks_isFound() {
    admit(LIMIT);
    assertThat(watch.check()).isEmpty();
    admit(1);
    assertThat(watch.check()).hasSize(1);
  }

  @Test
  void otherKeysAndLaterWindows_areCountedForThemselves() {
    admit(LIMIT);
    watch.admitted(RULE, "other", now, now + MILLI);
    now += RULE.window().toNanos();
    admit(LIMIT);
    assertThat(watch.check()).isEmpty();
  }

  @Test
  void whatRedisForgot_mayBeAdmittedOnceMore() {
    now -= LIMIT * MILLI;
    admit(LIMIT - 1);
    watch.lossBegins();
    watch.lossEnds();
    now = System.nanoTime();
    admit(LIMIT);
    assertThat(watch.check()).isEmpty();
  }

  @Test
  void whatRedisForgot_doesNotExcuseMoreThanTheLimitSince() {
    watch.lossBegins();
    watch.lossEnds();
    now = System.nanoTime();
    admit(LIMIT + 1);
    assertThat(watch.check()).hasSize(1);
  }

  @Test
  void lossThatIsGoingOn_excusesOneMoreQuotaAndNoMore() {
    watch.lossBegins();
    now = System.nanoTime();
    admit(2 * LIMIT);
    assertThat(watch.check()).isEmpty();
    admit(1);
    assertThat(watch.check()).hasSize(1);
  }
}
