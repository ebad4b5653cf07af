package dev.weir.bench.peers;

import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.bench.Load;
import java.util.ArrayDeque;

/**
 * The first solution that one would write: a deque of timestamps a key, under its own lock. An
 * exact window.
 */
public final class DequeLimiter extends PerKey<ArrayDeque<Long>> {
  private final Quota quota;
  private final Ticker ticker;

  public DequeLimiter(Load load, Ticker ticker) {
    this(
        load == Load.ALL_ALLOWED
            ? Quota.of(Quota.MAX_PERMITS, Load.LOG_WINDOW)
            : Quota.of(1, Load.DAY),
        ticker);
  }

  public DequeLimiter(Quota quota, Ticker ticker) {
    this.quota = quota;
    this.ticker = ticker;
  }

  @Override
  ArrayDeque<Long> create(String key) {
    return new ArrayDeque<>();
  }

  @Override
  boolean request(ArrayDeque<Long> admitted) {
    synchronized (admitted) {
      long now = ticker.nanos();
      Long oldest = admitted.peekFirst();
      while (oldest != null && oldest <= now - quota.windowNanos()) {
        admitted.pollFirst();
        oldest = admitted.peekFirst();
      }
      if (admitted.size() >= quota.permits()) {
        return false;
      }
      admitted.addLast(now);
      return true;
    }
  }
}
