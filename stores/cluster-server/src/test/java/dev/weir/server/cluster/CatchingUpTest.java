package dev.weir.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import org.junit.jupiter.api.Test;

class CatchingUpTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long NEVER = Long.MAX_VALUE;

  /**
   * Returns the number of whole seconds after which a member is ready.
   *
   * @param ledAfter seconds until every group has a leader
   * @param caughtUpAfter seconds until the member has caught up
   */
  private static long ready(long ledAfter, long caughtUpAfter) throws InterruptedException {
    FakeTicker ticker = new FakeTicker();
    long begun = ticker.nanos();
    CatchUpLimit.await(
        ticker,
        () -> (ticker.nanos() - begun) / SECOND >= ledAfter,
        () -> (ticker.nanos() - begun) / SECOND >= caughtUpAfter);
    return (ticker.nanos() - begun) / SECOND;
  }

  @Test
  void member_isReady_whenItHasCaughtUp_orAtItsTime() throws Exception {
    assertThat(ready(0, 0)).isZero();
    assertThat(ready(1, 7)).isEqualTo(7);
    assertThat(ready(1, NEVER)).isEqualTo(60);
    assertThat(ready(NEVER, NEVER)).isEqualTo(10);
    assertThat(ready(9, 50)).isEqualTo(50);
    assertThat(ready(11, 12)).isEqualTo(10);
  }
}
