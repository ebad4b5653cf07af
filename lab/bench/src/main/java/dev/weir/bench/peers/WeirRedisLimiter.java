package dev.weir.bench.peers;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.redis.RedisStore;
import java.util.concurrent.CompletionStage;

/** Weir on a store in Redis, with decisions as values with all their fields. */
public final class WeirRedisLimiter implements AsyncLimiter {
  private final RateLimiter limiter;

  public WeirRedisLimiter(RedisStore store, Policy policy) {
    this.limiter = RateLimiter.builder(policy).store(store).build();
  }

  @Override
  public boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public boolean tryAcquire(String key) {
    return verdict(limiter.tryAcquire(key));
  }

  @Override
  public CompletionStage<Boolean> tryAcquireAsync(String key) {
    return limiter.tryAcquireAsync(key).thenApply(WeirRedisLimiter::verdict);
  }

  /** Returns whether a decision allows; an uncertain answer is not a decision. */
  private static boolean verdict(Decision decision) {
    if (decision.reason() != Reason.WITHIN_LIMIT && decision.reason() != Reason.OVER_LIMIT) {
      throw new IllegalStateException(
          "reason: "
              + decision.reason()
              + " (expected: "
              + Reason.WITHIN_LIMIT
              + " or "
              + Reason.OVER_LIMIT
              + ")");
    }
    return decision.allowed();
  }
}
