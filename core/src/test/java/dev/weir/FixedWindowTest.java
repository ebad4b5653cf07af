package dev.weir;

import org.junit.jupiter.api.Test;

/** The fixed window as a table: instant, permits; then retry-after and remaining. */
class FixedWindowTest {
  @Test
  void threePerHundred_beginAnewAtEachMultipleOfAHundred() {
    Steps.of(Algorithm.FIXED_WINDOW, 3, 1_000_000)
        .at(250_000, 2, 0, 1)
        .at(900_000, 2, 100_000, 1) // The next window begins at 1000000.
        .at(999_999, 1, 0, 0)
        .at(999_999, 1, 1, 0)
        .resetsAt(1_000_000)
        .at(1_000_000, 3, 0, 0)
        .at(1_000_000, 1, 1_000_000, 0)
        .at(1_000_000, 4, Decision.NEVER, 0);
  }

  @Test
  void olderInstant_isDecidedAtTheLatestOne() {
    Steps.of(Algorithm.FIXED_WINDOW, 3, 1_000_000)
        .at(1_200_000, 3, 0, 0)
        .at(900_000, 1, 1_100_000, 0) // Until 2000000.
        .at(-5_000_000, 0, 0, 0);
  }

  @Test
  void negativeInstants_alignDownwards() {
    Steps.of(Algorithm.FIXED_WINDOW, 1, 1_000_000)
        .at(-1, 1, 0, 0)
        .resetsAt(0)
        .at(-1, 1, 1, 0)
        .at(0, 1, 0, 0);
  }

  @Test
  void charge_isGivenBackWithinItsWindowOnly() {
    Steps.of(Algorithm.FIXED_WINDOW, 3, 1_000_000)
        .at(100_000, 3, 0, 0)
        .refund(900_000, 2, 100_000, 1_000_000, 2)
        .at(900_000, 2, 0, 0)
        .refund(1_000_000, 1, 100_000, 1_000_000, 0);
  }
}
