package dev.weir.bench.peers;

import dev.weir.bench.Load;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;

/** Resilience4j, one limiter a key, which does not wait. */
public final class Resilience4jLimiter extends PerKey<RateLimiter> {
  private final RateLimiterConfig config;

  public Resilience4jLimiter(Load load) {
    this.config =
        RateLimiterConfig.custom()
            .limitForPeriod(load == Load.ALL_ALLOWED ? Integer.MAX_VALUE : 1)
            .limitRefreshPeriod(Load.DAY)
            .timeoutDuration(Duration.ZERO)
            .build();
  }

  @Override
  RateLimiter create(String key) {
    return RateLimiter.of("key", config);
  }

  @Override
  boolean request(RateLimiter limiter) {
    return limiter.acquirePermission();
  }
}
