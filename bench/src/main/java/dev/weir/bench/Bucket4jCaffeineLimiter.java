package dev.weir.bench;

import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.caffeine.Bucket4jCaffeine;
import io.github.bucket4j.distributed.proxy.ProxyManager;

/** Bucket4j with its buckets in a Caffeine cache, without a bound on it. */
final class Bucket4jCaffeineLimiter implements KeyedLimiter {
  private final BucketConfiguration configuration;
  private final ProxyManager<String> buckets;

  Bucket4jCaffeineLimiter(Load load, TimeMeter time) {
    configuration = BucketConfiguration.builder().addLimit(Bucket4jLimiter.bandwidth(load)).build();
    buckets = Bucket4jCaffeine.<String>builderFor(Caffeine.newBuilder()).clientClock(time).build();
  }

  @Override
  public boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public boolean tryAcquire(String key) {
    return buckets.getProxy(key, () -> configuration).tryConsume(1);
  }
}
