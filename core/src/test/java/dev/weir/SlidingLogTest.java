package dev.weir;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The exact log and its buckets as tables: instant, permits; then retry-after and remaining. */
class SlidingLogTest {
  private static final long W = 1_000_000;

  @Test
  void log_eachPermitCountsForExactlyAWindow() {
    Steps.of(Algorithm.SLIDING_WINDOW_LOG, 3, W)
        .at(0, 1, 0, 2)
        .at(400_000, 2, 0, 0)
        .resetsAt(W + 400_000)
        .at(400_000, 1, W - 400_000, 0) // The first has expired then.
        .at(999_999, 1, 1, 0)
        .at(W, 1, 0, 0)
        .at(W, 2, 400_000, 0) // Both permits of 400000 expire together.
        .at(W + 400_000, 2, 0, 0)
        .at(W + 400_000, 4, Decision.NEVER, 0);
  }

  @Test
  void log_olderInstant_isDecidedAtTheLatestOne() {
    Steps.of(Algorithm.SLIDING_WINDOW_LOG, 2, W)
        .at(500, 1, 0, 1)
        .at(100, 1, 0, 0)
        .at(100, 1, W + 400, 0); // Both count from 500 on.
  }

  @Test
  void log_anyChargeInTheWindowIsGivenBack() {
    Steps.of(Algorithm.SLIDING_WINDOW_LOG, 3, W)
        .at(0, 2, 0, 1)
        .at(10, 1, 0, 0)
        .refund(20, 2, 0, W, 2)
        .at(20, 2, 0, 0)
        .refund(W + 10, 1, 10, W + 10, 0);
  }

  @Test
  void buckets_aGranuleCountsUntilItsLastInstantHasExpired() {
    Policy policy =
        Policy.builder(new Quota(3, W))
            .algorithm(Algorithm.SLIDING_WINDOW_BUCKETS)
            .granularity(Duration.ofNanos(100_000))
            .build();
    new Steps(policy)
        .at(10, 2, 0, 1)
        .at(99_999, 1, 0, 0)
        .resetsAt(99_999 + W)
        .at(100_000, 1, W - 1, 0) // The granule's last instant is 99999.
        .at(W + 99_998, 3, 1, 0)
        .at(W + 99_999, 3, 0, 0);
  }
}
