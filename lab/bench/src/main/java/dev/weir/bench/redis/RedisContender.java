package dev.weir.bench.redis;

import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.bench.peers.Bucket4jProxyLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.peers.RedissonLimiter;
import dev.weir.bench.peers.ScriptLimiter;
import dev.weir.bench.peers.WeirRedisLimiter;
import io.github.bucket4j.Bandwidth;

/** The limiters that are compared through Redis, by their names in tables. */
enum RedisContender {
  BUCKET4J("Bucket4j, compare and swap") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      Quota quota = policy.quota();
      return new Bucket4jProxyLimiter(
          clients.buckets().withMapper(key -> policy.name() + ":" + key),
          Bandwidth.builder()
              .capacity(policy.burst())
              .refillGreedy(quota.permits(), quota.window())
              .build());
    }
  },

  REDISSON("Redisson RRateLimiter") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return new RedissonLimiter(clients.redisson(), policy);
    }
  },

  SCRIPT("one script call each") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return new ScriptLimiter(clients.connection(), policy);
    }
  },

  STRICT("Weir, strict") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return weir(clients, policy, Consistency.STRICT);
    }
  },

  LEASED("Weir, leased") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return weir(clients, policy, Consistency.LEASED);
    }
  },

  APPROXIMATE("Weir, approximate") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return weir(clients, policy, Consistency.APPROXIMATE);
    }
  },

  SLIDING_WINDOW("Weir, strict, sliding window") {
    @Override
    KeyedLimiter limiter(RedisClients clients, Policy policy) {
      return new WeirRedisLimiter(
          clients.store(), Policy.builder(policy.quota()).name(policy.name()).build());
    }
  };

  private final String text;

  RedisContender(String text) {
    this.text = text;
  }

  /**
   * Returns a limiter whose state is kept apart from that of others by the policy's name.
   *
   * @param policy a token bucket, for limiters with buckets; for others only its quota counts
   */
  abstract KeyedLimiter limiter(RedisClients clients, Policy policy);

  private static KeyedLimiter weir(RedisClients clients, Policy policy, Consistency consistency) {
    return new WeirRedisLimiter(
        clients.store(),
        Policy.builder(policy.quota())
            .name(policy.name())
            .algorithm(policy.algorithm())
            .burst(policy.burst())
            .sharing(Sharing.STRICT.consistency(consistency))
            .build());
  }

  @Override
  public String toString() {
    return text;
  }
}
