package dev.weir.bench.redis;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.bench.Keys;
import java.util.List;

/** The keys of requests through Redis, and their quota. */
public enum RedisScenario {
  /** A scenario with more permits than any run takes. */
  HOT("One hot key, nearly all admitted"),

  /**
   * A scenario with buckets that refill so slowly that no state expires before its key is requested
   * again.
   */
  SPREAD("100 thousand keys, uniformly, nearly all admitted"),

  /** A scenario with a quota of a tenth of the requests, as far as that can be found. */
  REFUSED("One hot key, about nine of ten refused");

  /**
   * The number of keys for Redisson, which has an object a key here and three entries a key in
   * Redis to set up.
   */
  static final int FEWER_KEYS = 2_000;

  private static final int MANY_KEYS = 100_000;

  private final String text;

  RedisScenario(String text) {
    this.text = text;
  }

  /** Returns whether a contender is measured here: the default policy would refuse a hot key. */
  boolean measures(RedisContender contender) {
    return this != HOT || contender != RedisContender.SLIDING_WINDOW;
  }

  /** Returns the keys of requests, each with the same probability. */
  List<String> keys(RedisContender contender) {
    return List.of(
        Keys.of(
            this != SPREAD ? 1 : contender == RedisContender.REDISSON ? FEWER_KEYS : MANY_KEYS));
  }

  /**
   * Returns the policy for a contender in this scenario.
   *
   * @param name a name that keeps its state apart from that of others
   * @param askedPerSecond the expected requests per second, if they matter
   */
  Policy policy(RedisContender contender, String name, double askedPerSecond) {
    if (contender == RedisContender.SLIDING_WINDOW) {
      return Policy.builder(Quota.perMinute(100)).name(name).build();
    }
    long tenth = Math.max(1, Math.round(askedPerSecond / 10));
    return switch (this) {
      case HOT -> bucket(name, Quota.perSecond(1_000_000), 1_000_000_000);
      case SPREAD -> bucket(name, Quota.perSecond(1), 1_000_000);
      case REFUSED -> bucket(name, Quota.perSecond(tenth), tenth);
    };
  }

  /** Returns a token bucket. */
  public static Policy bucket(String name, Quota quota, long burst) {
    return Policy.builder(quota).name(name).algorithm(Algorithm.TOKEN_BUCKET).burst(burst).build();
  }

  @Override
  public String toString() {
    return text;
  }
}
