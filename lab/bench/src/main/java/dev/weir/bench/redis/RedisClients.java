package dev.weir.bench.redis;

import dev.weir.redis.RedisStore;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The client of each contender, set up according to its own documentation. */
final class RedisClients implements AutoCloseable {
  /** The longest time of a call of any limiter; a longer one has failed. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final RedisClient lettuce;
  private final StatefulRedisConnection<String, String> connection;
  private final ProxyManager<String> buckets;
  private final RedissonClient redisson;
  private final RedisStore store;

  /**
   * @param uri the address of the redis-server
   */
  RedisClients(String uri) {
    RedisURI address = RedisURI.create(uri);
    address.setTimeout(TIMEOUT);
    lettuce = RedisClient.create(address);
    connection = lettuce.connect();
    buckets =
        Bucket4jLettuce.casBasedBuilder(
                lettuce.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
            .expirationAfterWrite(
                ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(
                    Duration.ofSeconds(10)))
            .requestTimeout(TIMEOUT)
            .build();
    Config config = new Config();
    config.useSingleServer().setAddress(uri).setTimeout((int) TIMEOUT.toMillis());
    redisson = Redisson.create(config);
    store = RedisStore.builder(uri).timeout(TIMEOUT).build();
    awaitStore();
  }

  /**
   * Waits until the store has connected, which takes it a moment; other clients connect at once.
   */
  private void awaitStore() {
    long until = System.nanoTime() + TIMEOUT.toNanos();
    while (!store.available()) {
      if (System.nanoTime() - until > 0) {
        throw new IllegalStateException("store: not available (expected: within " + TIMEOUT + ")");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Returns the connection of the plain script, which also serves to query Redis. */
  StatefulRedisConnection<String, String> connection() {
    return connection;
  }

  /** Returns Bucket4j's manager by compare and swap, on one connection. */
  ProxyManager<String> buckets() {
    return buckets;
  }

  RedissonClient redisson() {
    return redisson;
  }

  RedisStore store() {
    return store;
  }

  @Override
  public void close() {
    store.close();
    redisson.shutdown();
    lettuce.shutdown();
  }
}
