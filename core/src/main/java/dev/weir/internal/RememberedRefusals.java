package dev.weir.internal;

import dev.weir.Ticker;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The refusals of other services until some instant, by what they refuse. It holds a bounded number
 * of refusals, and removes the oldest first: then a request to that service is wasted. Safe for use
 * by many threads.
 *
 * @param <K> the keys of refusals: values that keep no text of a client
 */
public final class RememberedRefusals<K> {
  /**
   * The refusal of a service.
   *
   * @param status of the service's protocol, which is not read here
   * @param sinceNanos the time at which it arrived
   * @param statedNanos the time until which the service refuses, as it has stated
   * @param untilNanos the time at which this process tries again, not after that
   */
  public record Refusal(int status, long sinceNanos, long statedNanos, long untilNanos) {}

  private final Ticker ticker;
  private final int maxEntries;
  private final long maxNanos;
  private final ReentrantLock lock = new ReentrantLock();

  /** The refusals in the order in which they were added. Guarded by the lock. */
  private final Map<K, Refusal> refusals = new LinkedHashMap<>();

  /** Written under the lock, read without it: usually there is nothing to find. */
  private volatile int size;

  /**
   * Creates an empty memory of at most {@code maxEntries} refusals.
   *
   * @param maxNanos the longest that a refusal is kept, whatever the service has stated; 0 keeps
   *     none
   */
  public RememberedRefusals(Ticker ticker, int maxEntries, long maxNanos) {
    this.ticker = ticker;
    this.maxEntries = maxEntries;
    this.maxNanos = maxNanos;
  }

  /** Returns the number of refusals, even if they are over by now. */
  public int size() {
    return size;
  }

  /**
   * Adds a refusal; of two for one key, the one that lasts longer is kept.
   *
   * @param nanos the time for which the service has stated that it refuses
   */
  public void add(K key, int status, long nanos) {
    if (Math.min(nanos, maxNanos) <= 0) {
      return;
    }
    long now = ticker.nanos();
    long stated = now + Math.min(nanos, Long.MAX_VALUE - now);
    Refusal refusal = new Refusal(status, now, stated, now + Math.min(nanos, maxNanos));
    lock.lock();
    try {
      Refusal before = refusals.remove(key);
      refusals.put(
          key,
          before != null && before.statedNanos > stated
              ? new Refusal(before.status, now, before.statedNanos, before.untilNanos)
              : refusal);
      if (refusals.size() > maxEntries) {
        Iterator<K> oldest = refusals.keySet().iterator();
        oldest.next();
        oldest.remove();
      }
      size = refusals.size();
    } finally {
      lock.unlock();
    }
  }

  /** Finds a refusal that is not over, or null. */
  public @Nullable Refusal find(K key) {
    if (size == 0) {
      return null;
    }
    long now = ticker.nanos();
    lock.lock();
    try {
      Refusal refusal = refusals.get(key);
      if (refusal == null || refusal.untilNanos > now) {
        return refusal;
      }
      refusals.remove(key);
      size = refusals.size();
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a refusal because the service has answered a request that was sent after it. An answer
   * to an earlier request does not count: it may have been overtaken.
   */
  public void forget(K key, long sentNanos) {
    lock.lock();
    try {
      Refusal refusal = refusals.get(key);
      if (refusal != null && refusal.sinceNanos <= sentNanos) {
        refusals.remove(key);
        size = refusals.size();
      }
    } finally {
      lock.unlock();
    }
  }
}
