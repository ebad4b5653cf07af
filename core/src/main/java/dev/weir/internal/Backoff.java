package dev.weir.internal;

import java.util.random.RandomGenerator;

/**
 * The delays between attempts at something that fails: each is twice the one before, up to a bound.
 * The caller counts its delays, and chooses their unit.
 *
 * @param least the first delay, at least 1
 * @param most the bound, at least {@code least}
 */
public record Backoff(long least, long most) {
  /** Checks the bounds. */
  public Backoff {
    if (least < 1 || most < least) {
      throw new IllegalArgumentException(
          "backoff: " + least + ".." + most + " (expected: 1 <= least <= most)");
    }
  }

  /**
   * Returns a delay without jitter.
   *
   * @param before the number of delays before this one, from 0
   */
  public long longest(int before) {
    int doublings = Math.min(before, Long.SIZE - 1);
    return least > most >> doublings ? most : least << doublings;
  }

  /**
   * Returns a random delay, so that callers that failed together do not try again together: more
   * than half of {@link #longest}, and at most that.
   *
   * @param before the number of delays before this one, from 0
   */
  public long random(int before, RandomGenerator random) {
    long longest = longest(before);
    return longest - random.nextLong(longest - longest / 2);
  }
}
