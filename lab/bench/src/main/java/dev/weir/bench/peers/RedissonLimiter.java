package dev.weir.bench.peers;

import dev.weir.Policy;
import java.time.Duration;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** Redisson's limiter, one object a key. It has no bucket: its quota is a burst per window. */
public final class RedissonLimiter extends PerKey<RRateLimiter> {
  private final RedissonClient redisson;
  private final String prefix;
  private final long permits;
  private final Duration window;

  public RedissonLimiter(RedissonClient redisson, Policy policy) {
    this.redisson = redisson;
    this.prefix = policy.name() + ":";
    this.permits = policy.burst();
    this.window = policy.quota().window();
  }

  @Override
  RRateLimiter create(String key) {
    RRateLimiter limiter = redisson.getRateLimiter(prefix + key);
    limiter.trySetRate(RateType.OVERALL, permits, window);
    return limiter;
  }

  @Override
  boolean request(RRateLimiter limiter) {
    return limiter.tryAcquire();
  }
}
