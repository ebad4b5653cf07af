package dev.weir.bench.peers;

import dev.weir.LimiterBuilder;
import dev.weir.PackedDecision;
import dev.weir.PackedLimiter;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.Keys;
import java.util.List;

/** Weir with quotas by its default algorithm. */
public final class WeirQuotasLimiter {
  private WeirQuotasLimiter() {}

  /** Returns a limiter whose decisions are objects. */
  public static KeyedLimiter ofDecisions(List<Quota> quotas) {
    return new ObjectDecisions(builder(quotas).build());
  }

  /** Returns a limiter by a clock of the caller's. */
  public static KeyedLimiter ofDecisions(List<Quota> quotas, Ticker ticker) {
    return new ObjectDecisions(builder(quotas).ticker(ticker).build());
  }

  /** Returns a limiter whose decisions are packed. */
  public static KeyedLimiter packed(List<Quota> quotas) {
    return new PackedDecisions(builder(quotas).build().packed());
  }

  private static LimiterBuilder builder(List<Quota> quotas) {
    Quota[] more = quotas.subList(1, quotas.size()).toArray(new Quota[0]);
    return RateLimiter.builder(quotas.get(0), more).maxKeys(Keys.MOST);
  }

  private record ObjectDecisions(RateLimiter limiter) implements KeyedLimiter {
    @Override
    public boolean fill(String key) {
      return tryAcquire(key);
    }

    @Override
    public boolean tryAcquire(String key) {
      return limiter.tryAcquire(key).allowed();
    }
  }

  private record PackedDecisions(PackedLimiter limiter) implements KeyedLimiter {
    @Override
    public boolean fill(String key) {
      return tryAcquire(key);
    }

    @Override
    public boolean tryAcquire(String key) {
      return PackedDecision.allowed(limiter.decide(key));
    }
  }
}
