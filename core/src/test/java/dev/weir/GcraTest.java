package dev.weir;

import org.junit.jupiter.api.Test;

/** The bucket as a table: instant, permits; then retry-after and remaining, computed by hand. */
class GcraTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long NEVER = Decision.NEVER;

  @Test
  void fourPerSecond_burstOfFour_refillsOneEachQuarter() {
    long quarter = SECOND / 4;
    Steps.of(Algorithm.TOKEN_BUCKET, 4, SECOND)
        .at(0, 4, 0, 0) // The bucket is full at first: TAT is 1 s.
        .resetsAt(SECOND)
        .at(0, 1, quarter, 0)
        .at(quarter - 1, 1, 1, 0)
        .at(quarter, 1, 0, 0) // TAT is 1.25 s.
        .at(3 * quarter, 3, quarter, 2)
        .at(3 * quarter, 2, 0, 0) // TAT is 1.75 s.
        .resetsAt(7 * quarter)
        .at(10 * SECOND, 5, NEVER, 4)
        .at(10 * SECOND, 0, 0, 4);
  }

  @Test
  void sevenPerSecond_theEmissionIntervalIsRoundedUp() {
    long emission = 142_857_143; // 1 s / 7 is 142857142.86 ns.
    Steps.of(Algorithm.TOKEN_BUCKET, 7, SECOND)
        .at(0, 7, 0, 0)
        .resetsAt(7 * emission)
        .at(0, 1, emission, 0)
        .at(SECOND, 7, 1, 6); // One second is a nanosecond less than seven intervals.
  }

  @Test
  void burstOfTwoAtTenPerSecond_andAnOlderInstant() {
    Policy policy =
        Policy.builder(Quota.perSecond(10)).algorithm(Algorithm.TOKEN_BUCKET).burst(2).build();
    long tenth = SECOND / 10;
    new Steps(policy)
        .at(0, 2, 0, 0)
        .at(0, 2, 2 * tenth, 0)
        .at(-tenth, 1, 2 * tenth, 0) // A clock behind has further to go.
        .at(tenth, 1, 0, 0)
        .at(tenth, 3, NEVER, 0);
  }

  @Test
  void lastCharge_isGivenBack_andNotWhatHasDrained() {
    long quarter = SECOND / 4;
    Steps.of(Algorithm.TOKEN_BUCKET, 4, SECOND)
        .at(0, 3, 0, 1)
        .refund(0, 3, 0, 3 * quarter, 3)
        .at(0, 4, 0, 0)
        .refund(SECOND, 4, 0, SECOND, 0);
  }

  @Test
  void zeroPermitsASecond_admitNothing() {
    Steps.of(Algorithm.LEAKY_BUCKET, 0, SECOND).at(0, 1, NEVER, 0).at(0, 0, 0, 0);
  }
}
