package dev.weir;

import java.util.SplittableRandom;

/**
 * The seed of the random suites of this module; {@code -Dweir.seed} sets it. It is printed in the
 * form of testkit's {@code Trials}, which cannot be used here, since testkit uses this module.
 */
public final class Seed {
  static final long SEED = Long.getLong("weir.seed", System.nanoTime());

  private Seed() {}

  /** Prints how many runs a suite makes or made, and the seed. */
  static void report(String name, int runs) {
    System.out.println(
        name + ": " + runs + (runs == 1 ? " run" : " runs") + ", -Dweir.seed=" + SEED);
  }

  /** Returns the random numbers of a suite of {@code runs} runs, and prints both. */
  public static SplittableRandom random(String name, int runs) {
    report(name, runs);
    return new SplittableRandom(SEED);
  }
}
