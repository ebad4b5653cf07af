package dev.weir.server.cluster;

import dev.weir.Ticker;
import java.util.function.BooleanSupplier;

/** How long a member that has started reports that it is not ready. */
final class CatchingUp {
  /*
   * Why does it end, whatever the cluster does? A member that lags answers all the same, since the
   * leader decides, and one without a cluster answers by on_failure, as with a Redis that is away.
   * While it catches up others answer faster, so balancers should ask those; but if none of them
   * was ready, nobody would be asked, and a cluster that lacks its majority would have no answers
   * at all.
   */

  /** A leader is found within a few elections, if one can be. */
  static final long MOST_WITHOUT_LEADER_NANOS = 10_000_000_000L;

  static final long MOST_NANOS = 60_000_000_000L;

  private static final long STEP_NANOS = 20_000_000L;

  private CatchingUp() {}

  /**
   * Waits.
   *
   * @param led whether a leader of every group is known
   * @param caughtUp whether one is, and this member has decided what is committed
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
