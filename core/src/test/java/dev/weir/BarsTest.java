package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Bars are exact for each key, and take memory only for those that are not over. */
class BarsTest {
  @Test
  void bars_agreeWithAMap() {
    int runs = 100;
    SplittableRandom random = Seed.random("BarsTest", runs);
    for (int trial = 0; trial < runs; trial++) {
      Bars bars = new Bars();
      Map<Long, Long> right = new HashMap<>();
      long now = 0;
      int keys = random.nextInt(1, 200);
      for (int i = 0; i < 500; i++) {
        now += random.nextInt(4);
        long key = random.nextLong(1, keys + 1) << (random.nextBoolean() ? 0 : 40);
        long until = now + 1 + random.nextInt(100);
        if (random.nextInt(20) == 0) {
          assertThat(bars.prune(now)).isLessThanOrEqualTo(now);
        } else {
          assertThat(bars.add(key, until, now)).isLessThanOrEqualTo(now);
          right.merge(key, until, Math::max);
        }
        long at = now;
        right.values().removeIf(each -> each <= at);
        assertThat(bars.size()).isGreaterThanOrEqualTo(right.size());
        right.forEach(
            (fingerprint, until1) ->
                assertThat(bars.untilNanos(fingerprint))
                    .as("seed %s", Seed.SEED)
                    .isEqualTo(until1));
      }
      bars.prune(now);
      assertThat(bars.size()).isEqualTo(right.size());
      assertThat(bars.copy().bytes()).isEqualTo(bars.bytes());
    }
  }

  @Test
  void barsOfManyKeys_oneAfterTheOther_takeTheMemoryOfFew() {
    Bars bars = new Bars();
    long first = bars.bytes();
    for (long key = 1; key <= 100_000; key++) {
      bars.add(key, key + 2, key);
    }
    assertThat(bars.bytes()).isLessThanOrEqualTo(2 * first);
    assertThat(bars.untilNanos(99_999)).isEqualTo(100_001);
    assertThat(bars.untilNanos(17)).isEqualTo(Meter.LONG_AGO);
  }
}
