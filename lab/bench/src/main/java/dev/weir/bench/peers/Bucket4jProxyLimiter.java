package dev.weir.bench.peers;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.proxy.ProxyManager;

/** Bucket4j with its buckets elsewhere: in a Caffeine cache without a bound, or in Redis. */
public final class Bucket4jProxyLimiter implements KeyedLimiter {
  private final BucketConfiguration configuration;
  private final ProxyManager<String> buckets;

  public Bucket4jProxyLimiter(ProxyManager<String> buckets, Bandwidth bandwidth) {
    this.configuration = BucketConfiguration.builder().addLimit(bandwidth).build();
    this.buckets = buckets;
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
