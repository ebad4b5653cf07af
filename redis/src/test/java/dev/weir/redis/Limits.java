package dev.weir.redis;

import dev.weir.Policy;
import dev.weir.Quota;
import org.jspecify.annotations.Nullable;

/** Limits that belong to no store. */
final class Limits {
  static final RedisLimit ANY = of("any", Policy.of(Quota.perSecond(100)));

  private Limits() {}

  static RedisLimit of(String name, Policy policy) {
    return of("weir", name, policy, null);
  }

  @SuppressWarnings("NullAway") // Nobody asks whose they are.
  static RedisLimit of(String prefix, String name, Policy policy, @Nullable Holdings holdings) {
    return new RedisLimit(null, prefix, name, policy, null, holdings);
  }
}
