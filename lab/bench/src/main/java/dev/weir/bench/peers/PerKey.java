package dev.weir.bench.peers;

import java.util.concurrent.ConcurrentHashMap;

/**
 * One limiter object per key in a {@link ConcurrentHashMap}: the usual way with limiters that have
 * no keys.
 *
 * @param <L> the limiter of one key
 */
abstract class PerKey<L> implements KeyedLimiter {
  private final ConcurrentHashMap<String, L> limiters = new ConcurrentHashMap<>();

  /** Returns the limiter of a key that has none yet. */
  abstract L create(String key);

  abstract boolean request(L limiter);

  @Override
  public final boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public final boolean tryAcquire(String key) {
    // The key is looked up first, because computeIfAbsent locks a bin of several keys even if the
    // key exists.
    L limiter = limiters.get(key);
    return request(limiter != null ? limiter : limiters.computeIfAbsent(key, this::create));
  }
}
