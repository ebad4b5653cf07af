package dev.weir.server.cluster;

import dev.weir.Ticker;
import java.util.function.BooleanSupplier;

/**
 * The wait of a started member until it reports that it is ready: until it has caught up, or for a
 * bounded time.
 */
final class CatchUpLimit {
  /*
   * Why is the wait bounded, whatever the cluster does? A member that lags still answers, since the
   * leader decides, and a member without a cluster answers by on_failure, as with a Redis that is
   * away. While it catches up, other members answer faster, so load balancers should prefer those.
   * But if no member were ready, load balancers would send requests to none, and a cluster without
   * a majority would give no answers at all.
   */

  /**
   * The longest wait while a group has no known leader: a leader is elected within a few elections,
   * if that is possible at all.
   */
  static final long MOST_WITHOUT_LEADER_NANOS = 10_000_000_000L;

  static final long MOST_NANOS = 60_000_000_000L;

  private static final long STEP_NANOS = 20_000_000L;

  private CatchUpLimit() {}

  /**
   * Returns once the member has caught up, or when the longest wait is over.
   *
   * @param led returns true if a leader of every group is known
   * @param caughtUp returns true if, beyond that, this member has applied what is committed
   */
  static void await(Ticker ticker, BooleanSupplier led, BooleanSupplier caughtUp)
      throws InterruptedException {
    long begun = ticker.nanos();
    while (!caughtUp.getAsBoolean()) {
      long waited = ticker.nanos() - begun;
      if (waited >= (led.getAsBoolean() ? MOST_NANOS : MOST_WITHOUT_LEADER_NANOS)) {
        return;
      }
      ticker.sleep(STEP_NANOS);
    }
  }
}
