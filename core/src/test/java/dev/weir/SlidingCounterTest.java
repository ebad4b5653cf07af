package dev.weir;

import org.junit.jupiter.api.Test;

/** The sliding counter as a table: instant, permits; then retry-after and remaining. */
class SlidingCounterTest {
  private static final long W = 1_000_000;

  @Test
  void previousWindow_countsForTheShareStillCovered_roundedUp() {
    Steps.of(Algorithm.SLIDING_WINDOW_COUNTER, 10, W)
        .at(0, 10, 0, 0)
        .at(0, 1, W + W / 10, 0) // 10 of the previous window fall to 9 when a tenth has passed.
        .at(W, 1, W / 10, 0)
        .at(W + W / 10, 1, 0, 0)
        .at(W + W / 2, 4, 0, 0) // 1 and ceil(10 / 2) are counted: 4 fit.
        .at(W + W / 2 + 1, 1, W / 10 - 1, 0) // 5 and ceil(4.99999) are counted.
        .resetsAt(3 * W)
        .at(3 * W, 10, 0, 0);
  }

  @Test
  void moreThanTheLimit_isNever() {
    Steps.of(Algorithm.SLIDING_WINDOW_COUNTER, 10, W).at(5, 11, Decision.NEVER, 10);
  }
}
