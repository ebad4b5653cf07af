package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.PackedDecision;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.peers.Bucket4jLimiter;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A limiter by keys that are numbers already: token buckets of Weir and of Bucket4j. For many
 * threads.
 */
interface NumberKeys {
  boolean tryAcquire(long key);

  /** Returns the limiter of that name, each of the keys charged. */
  static NumberKeys of(String name, int keys, Load load, Ticker ticker) {
    return switch (name) {
      case "weir-number" -> weir(keys, load, ticker);
      case "bucket4j-number" -> bucket4j(keys, load);
      default ->
          throw new IllegalArgumentException(
              "limiter: " + name + " (expected: weir-number or bucket4j-number)");
    };
  }

  private static NumberKeys weir(int keys, Load load, Ticker ticker) {
    Policy policy = load.policy(Algorithm.TOKEN_BUCKET);
    PackedLimiter limiter =
        RateLimiter.builder(policy).ticker(ticker).maxKeys(Keys.MOST).build().packed();
    for (int i = 0; i < keys; i++) {
      limiter.decide(Keys.hashed(i), load.fillPermits(policy));
    }
    return key -> PackedDecision.allowed(limiter.decide(key, 1));
  }

  private static NumberKeys bucket4j(int keys, Load load) {
    ConcurrentHashMap<Long, Bucket> buckets = new ConcurrentHashMap<>();
    Bandwidth bandwidth = Bucket4jLimiter.bandwidth(load);
    NumberKeys limiter =
        key -> {
          Bucket bucket = buckets.get(key);
          if (bucket == null) {
            bucket =
                buckets.computeIfAbsent(
                    key, absent -> Bucket.builder().addLimit(bandwidth).build());
          }
          return bucket.tryConsume(1);
        };
    for (int i = 0; i < keys; i++) {
      limiter.tryAcquire(Keys.hashed(i));
    }
    return limiter;
  }
}
