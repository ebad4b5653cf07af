package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class DrawTest {
  private static final int KEYS = 1_000;

  @Test
  void uniform_drawsEveryKeyAboutAsOften() {
    int[] counts = counts(Draw.UNIFORM);
    double mean = (double) Draw.LENGTH / KEYS;
    assertThat(counts[0]).isCloseTo((int) mean, within((int) (mean / 4)));
    assertThat(counts[KEYS - 1]).isCloseTo((int) mean, within((int) (mean / 4)));
  }

  @Test
  void zipf_drawsTheKthKeyAKthAsOftenAsTheFirst() {
    int[] counts = counts(Draw.ZIPF);
    double harmonic = 0;
    for (int k = 1; k <= KEYS; k++) {
      harmonic += 1.0 / k;
    }
    double first = Draw.LENGTH / harmonic;
    for (int k : new int[] {1, 2, 5, 10, 50}) {
      int expected = (int) (first / k);
      assertThat(counts[KEYS - k]).as("key " + k).isCloseTo(expected, within(expected / 10));
    }
  }

  @Test
  void draw_isTheSameEveryTime() {
    for (Draw draw : Draw.values()) {
      int[] first = draw.sequence(50);
      int[] second = draw.sequence(50);
      assertThat(second).isEqualTo(first).hasSize(Draw.LENGTH);
    }
  }

  @Test
  void unknownNames_areRefused() {
    assertThatThrownBy(() -> Draw.of("normal"))
        .hasMessage("draw: normal (expected: uniform or zipf)");
    assertThatThrownBy(() -> Load.of("none"))
        .hasMessage("load: none (expected: all-allowed or mostly-denied)");
    assertThatThrownBy(() -> Keys.of(0)).hasMessage("keys: 0 (expected: 1..100000000)");
  }

  /** Returns the numbers of draws of the keys, in rising order. */
  private static int[] counts(Draw draw) {
    int[] counts = new int[KEYS];
    for (int key : draw.sequence(KEYS)) {
      counts[key]++;
    }
    Arrays.sort(counts);
    return counts;
  }
}
