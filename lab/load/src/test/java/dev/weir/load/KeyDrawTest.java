package dev.weir.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KeyDrawTest {
  private static final int KEYS = 1_000;
  private static final int DRAWS = 1_000_000;

  private static int[] counts(KeyDraw draw) {
    int[] counts = new int[KEYS + KeyDraw.EXHAUSTED_KEYS];
    for (int i = 0; i < DRAWS; i++) {
      counts[(int) draw.next()]++;
    }
    return counts;
  }

  @Test
  void uniform_drawsEveryKeyAboutAsOften() {
    int[] counts = counts(new KeyDraw(KeyDraw.Kind.UNIFORM, KEYS, 0, 0, new AtomicLong()));
    for (int key = 0; key < KEYS; key++) {
      assertThat(counts[key]).isCloseTo(DRAWS / KEYS, within(DRAWS / KEYS / 4));
    }
    assertThat(counts[KEYS]).isZero();
  }

  @Test
  void zipf_drawsTheKthKeyAKthAsOftenAsTheFirst() {
    int[] counts = counts(new KeyDraw(KeyDraw.Kind.ZIPF, KEYS, 0, 0, new AtomicLong()));
    double harmonic = 0;
    for (int k = 1; k <= KEYS; k++) {
      harmonic += 1.0 / k;
    }
    for (int k : new int[] {1, 2, 3, 5, 10, 50, 200}) {
      int expected = (int) (DRAWS / harmonic / k);
      assertThat(counts[k - 1]).as("key %s", k).isCloseTo(expected, within(expected / 8));
    }
  }

  @Test
  void exhaustedShare_goesToKeysOfItsOwn() {
    int[] counts = counts(new KeyDraw(KeyDraw.Kind.ZIPF, KEYS, 250_000, 0, new AtomicLong()));
    int exhausted = 0;
    for (int i = 0; i < KeyDraw.EXHAUSTED_KEYS; i++) {
      assertThat(counts[KEYS + i]).isPositive();
      exhausted += counts[KEYS + i];
    }
    assertThat(exhausted).isCloseTo(DRAWS / 4, within(DRAWS / 100));
  }

  @Test
  void inTurn_drawsEveryKeyOnce_overAllConnections() {
    AtomicLong turn = new AtomicLong();
    KeyDraw one = new KeyDraw(KeyDraw.Kind.IN_TURN, 5, 0, 0, turn);
    KeyDraw other = new KeyDraw(KeyDraw.Kind.IN_TURN, 5, 0, 1, turn);
    assertThat(List.of(one.next(), other.next(), other.next(), one.next(), other.next()))
        .containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(one.next()).isZero();
  }

  @Test
  void extremes_stayInRange() {
    for (int keys : new int[] {1, 2, (int) LoadPlan.MAX_KEYS}) {
      for (KeyDraw.Kind kind : KeyDraw.Kind.values()) {
        KeyDraw draw = new KeyDraw(kind, keys, 0, 3, new AtomicLong());
        for (int i = 0; i < 10_000; i++) {
          assertThat(draw.next()).isBetween(0L, keys - 1L);
        }
      }
    }
  }
}
