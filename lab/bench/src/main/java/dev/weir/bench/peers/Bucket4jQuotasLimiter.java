package dev.weir.bench.peers;

import dev.weir.Quota;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.local.LocalBucketBuilder;
import java.util.List;

/** Bucket4j, one bucket a key with a bandwidth for each quota, with its default options. */
public final class Bucket4jQuotasLimiter extends PerKey<Bucket> {
  private final List<Quota> quotas;

  public Bucket4jQuotasLimiter(List<Quota> quotas) {
    this.quotas = List.copyOf(quotas);
  }

  @Override
  Bucket create(String key) {
    LocalBucketBuilder builder = Bucket.builder();
    for (Quota quota : quotas) {
      builder.addLimit(
          limit -> limit.capacity(quota.permits()).refillGreedy(quota.permits(), quota.window()));
    }
    return builder.build();
  }

  @Override
  boolean request(Bucket bucket) {
    return bucket.tryConsume(1);
  }
}
