package dev.weir.bench.peers;

import dev.weir.Algorithm;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.Keys;
import dev.weir.bench.Load;

/** Weir by String key, with decisions as values with all their fields. */
public final class WeirDecisionLimiter implements KeyedLimiter {
  private final RateLimiter limiter;
  private final long fillPermits;

  public WeirDecisionLimiter(Load load, Ticker ticker) {
    this.limiter =
        RateLimiter.builder(load.policy(Algorithm.TOKEN_BUCKET))
            .ticker(ticker)
            .maxKeys(Keys.MOST)
            .build();
    this.fillPermits = load.fillPermits(limiter.policy());
  }

  @Override
  public boolean fill(String key) {
    return limiter.tryAcquire(key, fillPermits).allowed();
  }

  @Override
  public boolean tryAcquire(String key) {
    return limiter.tryAcquire(key).allowed();
  }
}
