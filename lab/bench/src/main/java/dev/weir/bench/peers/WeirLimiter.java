package dev.weir.bench.peers;

import dev.weir.Algorithm;
import dev.weir.PackedDecision;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.Keys;
import dev.weir.bench.Load;

/** Weir by String key, in the way of a program that calls it. */
public final class WeirLimiter implements KeyedLimiter {
  private final PackedLimiter limiter;
  private final long fillPermits;

  public WeirLimiter(Algorithm algorithm, Load load, Ticker ticker) {
    this(load.policy(algorithm), load.fillPermits(load.policy(algorithm)), ticker);
  }

  public WeirLimiter(Policy policy, long fillPermits, Ticker ticker) {
    this.limiter = RateLimiter.builder(policy).ticker(ticker).maxKeys(Keys.MOST).build().packed();
    this.fillPermits = fillPermits;
  }

  @Override
  public boolean fill(String key) {
    return PackedDecision.allowed(limiter.decide(key, fillPermits));
  }

  @Override
  public boolean tryAcquire(String key) {
    return PackedDecision.allowed(limiter.decide(key, 1));
  }
}
