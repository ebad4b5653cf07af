package dev.weir.bench;

import dev.weir.traffic.Zipf;
import java.util.SplittableRandom;

/** The keys of requests: a sequence of key numbers, drawn before anything is measured. */
enum Draw {
  /** Every key, with the same probability. */
  UNIFORM("uniform") {
    @Override
    int[] sequence(int keys, SplittableRandom random) {
      return random.ints(LENGTH, 0, keys).toArray();
    }
  },

  /**
   * Every key, of which the k-th most frequent is drawn 1/k as often as the first: Zipf's law,
   * exponent 1.
   */
  ZIPF("zipf") {
    @Override
    int[] sequence(int keys, SplittableRandom random) {
      Zipf zipf = new Zipf(keys, 1);
      int[] shuffled = shuffled(keys, random);
      int[] sequence = new int[LENGTH];
      for (int i = 0; i < LENGTH; i++) {
        sequence[i] = shuffled[zipf.draw(random) - 1];
      }
      return sequence;
    }
  };

  /**
   * The number of draws before they repeat, a power of two: so many that no cache holds all of the
   * states that they touch.
   */
  static final int LENGTH = 1 << 22;

  private static final long SEED = 20_261_101;

  private final String text;

  Draw(String text) {
    this.text = text;
  }

  /** Returns {@link #LENGTH} numbers from 0 to {@code keys - 1}, the same in every run. */
  int[] sequence(int keys) {
    return sequence(keys, new SplittableRandom(SEED));
  }

  abstract int[] sequence(int keys, SplittableRandom random);

  /**
   * Returns all key numbers in random order, so that frequent keys do not lie side by side in
   * memory.
   */
  private static int[] shuffled(int keys, SplittableRandom random) {
    int[] numbers = new int[keys];
    for (int i = 0; i < keys; i++) {
      int j = random.nextInt(i + 1);
      numbers[i] = numbers[j];
      numbers[j] = i;
    }
    return numbers;
  }

  /**
   * Returns the draw of that name.
   *
   * @throws IllegalArgumentException if there is no such draw
   */
  static Draw of(String text) {
    for (Draw draw : values()) {
      if (draw.text.equals(text)) {
        return draw;
      }
    }
    throw new IllegalArgumentException(
        "draw: " + text + " (expected: " + UNIFORM + " or " + ZIPF + ")");
  }

  @Override
  public String toString() {
    return text;
  }
}
