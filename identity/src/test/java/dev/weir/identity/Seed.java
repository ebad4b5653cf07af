package dev.weir.identity;

import java.util.Random;

/** Random numbers whose seed is printed; {@code -Dweir.seed=N} repeats a run. */
final class Seed {
  private Seed() {}

  static Random random() {
    long seed = Long.getLong("weir.seed", new Random().nextLong());
    System.out.println("seed " + seed);
    return new Random(seed);
  }
}
