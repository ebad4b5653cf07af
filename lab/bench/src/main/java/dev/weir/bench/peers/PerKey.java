package dev.weir.bench.peers;

import java.util.concurrent.ConcurrentHashMap;

/**
 * A limiter object a key in a {@link ConcurrentHashMap}: how limiters that know no keys are used.
 *
 * @param <L> the limiter of one key
 */
abstract class PerKey<L> implements KeyedLimiter {
  private final ConcurrentHashMap<String, L> limiters = new ConcurrentHashMap<>();

  /** Returns the limiter of a key that has none yet. */
  abstract L create(String key);

  abstract boolean ask(L limiter);

  @Override
  public final boolean fill(String key) {
    return tryAcquire(key);
  }

  @Override
  public final boolean tryAcquire(String key) {
    // Looked up first, because computeIfAbsent locks a bin of several keys even if the key is
    // there.
    L limiter = limiters.get(key);
    return ask(limiter != null ? limiter : limiters.computeIfAbsent(key, this::create));
  }
}
