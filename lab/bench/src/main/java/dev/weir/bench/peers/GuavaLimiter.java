package dev.weir.bench.peers;

import com.google.common.util.concurrent.RateLimiter;
import dev.weir.bench.Load;

/**
 * Guava, one limiter a key. It has a rate and no quota: the load in which all are allowed has a
 * permit a nanosecond, which no caller exceeds.
 */
public final class GuavaLimiter extends PerKey<RateLimiter> {
  private final double permitsPerSecond;

  public GuavaLimiter(Load load) {
    this.permitsPerSecond = load == Load.ALL_ALLOWED ? 1e9 : 1.0 / Load.DAY.toSeconds();
  }

  @Override
  RateLimiter create(String key) {
    return RateLimiter.create(permitsPerSecond);
  }

  @Override
  boolean request(RateLimiter limiter) {
    return limiter.tryAcquire();
  }
}
