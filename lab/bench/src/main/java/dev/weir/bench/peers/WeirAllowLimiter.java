package dev.weir.bench.peers;

import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.Load;
import java.time.Duration;

/** Weir in its three-line form: an exact window, and the caller's own timestamps. */
public final class WeirAllowLimiter implements KeyedLimiter {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final RateLimiter limiter;
  private final Ticker ticker;

  public WeirAllowLimiter(Load load, Ticker ticker) {
    boolean ample = load == Load.ALL_ALLOWED;
    Duration window = ample ? Load.LOG_WINDOW : Load.DAY;
    this.limiter = new RateLimiter(ample ? Integer.MAX_VALUE : 1, window.toMillis());
    this.ticker = ticker;
  }

  @Override
  public boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public boolean tryAcquire(String key) {
    return limiter.allow(key, ticker.nanos() / NANOS_PER_MILLI);
  }
}
