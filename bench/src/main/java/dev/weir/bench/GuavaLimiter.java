package dev.weir.bench;

import com.google.common.util.concurrent.RateLimiter;

/**
 * Guava, one limiter a key. It has a rate and no quota: all-allowed is a permit a nanosecond, which
 * no caller exceeds.
 */
final class GuavaLimiter extends PerKey<RateLimiter> {
  private final double permitsPerSecond;

  GuavaLimiter(Load load) {
    this.permitsPerSecond = load == Load.ALL_ALLOWED ? 1e9 : 1.0 / Load.DAY.toSeconds();
  }

  @Override
  RateLimiter create(String key) {
    return RateLimiter.create(permitsPerSecond);
  }

  @Override
  boolean ask(RateLimiter limiter) {
    return limiter.tryAcquire();
  }
}
