package dev.weir.bench.peers;

import dev.weir.bench.Load;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;

/** Bucket4j, one bucket a key, with its default options: lock-free, and refilled greedily. */
public final class Bucket4jLimiter extends PerKey<Bucket> {
  private final Bandwidth bandwidth;
  private final TimeMeter time;

  public Bucket4jLimiter(Load load, TimeMeter time) {
    this.bandwidth = bandwidth(load);
    this.time = time;
  }

  public static Bandwidth bandwidth(Load load) {
    return load == Load.ALL_ALLOWED
        ? Bandwidth.builder()
            .capacity(Load.AMPLE)
            .refillGreedy(Load.TRICKLE.permits(), Load.TRICKLE.window())
            .build()
        : Bandwidth.builder().capacity(1).refillGreedy(1, Load.DAY).build();
  }

  @Override
  Bucket create(String key) {
    return Bucket.builder().addLimit(bandwidth).withCustomTimePrecision(time).build();
  }

  @Override
  boolean request(Bucket bucket) {
    return bucket.tryConsume(1);
  }
}
