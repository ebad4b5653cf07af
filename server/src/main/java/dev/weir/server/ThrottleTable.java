package dev.weir.server;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The keys of {@code CL.THROTTLE} and {@code THROTTLE}: buckets that belong to no rule, described
 * anew by every request, in a table of their own. Safe for use by many threads.
 *
 * <p>A key's state is the instant at which its bucket is full again, whatever the numbers that come
 * with a request. As long as a key is asked for with the same numbers it holds to them like any
 * token bucket.
 */
final class ThrottleTable {
  /** Buckets remembered. Beyond it they are made anew, which costs time and nothing else. */
  private static final int MAX_REMEMBERED = 4_096;

  private static final long SECOND = 1_000_000_000L;

  private record Bucket(long burst, long count, long periodSeconds) {}

  private final LongAdder requests = new LongAdder();
  private final LongAdder denied = new LongAdder();
  final LongAdder keySpaceFull = new LongAdder();
  final LongAdder overloaded = new LongAdder();

  private final MemoryStore store;
  private final Limit any;
  private final Fingerprint fingerprint = Fingerprint.random();
  private final ConcurrentHashMap<Bucket, Limit> remembered = new ConcurrentHashMap<>();

  ThrottleTable(long maxKeys, long maxBytes, long nowNanos) {
    store = new MemoryStore(maxKeys, maxBytes);
    any = store.limit("throttle", policy(1, 1, 1), nowNanos);
  }

  MemoryStore store() {
    return store;
  }

  /** Returns a key's fingerprint. */
  long key(byte[] bytes, int from, int to) {
    return fingerprint.of(bytes, from, to);
  }

  /**
   * Returns the limit of a bucket.
   *
   * @throws IllegalArgumentException if the numbers make none; its message says why
   */
  Limit limit(long burst, long count, long periodSeconds) {
    Bucket bucket = new Bucket(burst, count, periodSeconds);
    Limit known = remembered.get(bucket);
    if (known != null) {
      return known;
    }
    Limit made = store.variant(any, policy(burst, count, periodSeconds));
    if (remembered.size() >= MAX_REMEMBERED) {
      remembered.clear();
    }
    remembered.put(bucket, made);
    return made;
  }

  private static Policy policy(long burst, long count, long periodSeconds) {
    return Policy.builder(new Quota(count, Math.multiplyExact(periodSeconds, SECOND)))
        .name("throttle")
        .algorithm(Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  void count(int decided, int ofThemDenied) {
    requests.add(decided);
    denied.add(ofThemDenied);
  }

  long requests() {
    return requests.sum();
  }

  long denied() {
    return denied.sum();
  }

  /** Forgets keys that have rested, a bounded amount. */
  void expire(long nowNanos) {
    store.expire(nowNanos);
  }

  /** Returns how full the table is, 0 to 100. */
  int fullPercent() {
    double keys = (double) store.keys() / store.maxKeys();
    double bytes = (double) store.bytes() / store.maxBytes();
    return (int) Math.min(100, 100 * Math.max(keys, bytes));
  }

  /** Forgets a key; returns whether it had been used. */
  boolean forget(byte[] bytes, int from, int to, long nowNanos) {
    return store.forget(any, key(bytes, from, to), nowNanos);
  }
}
