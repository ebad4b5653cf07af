package dev.weir;

/**
 * A {@link RateLimiter} for callers who count nanoseconds: the same limit, but every decision is a
 * {@code long}, to be read by {@link PackedDecision}, and nothing is allocated if the store is in
 * this process. Safe for use by many threads.
 *
 * <pre>{@code
 * PackedLimiter packed = limiter.packed();
 * if (!PackedDecision.allowed(packed.decide(user, 1))) {
 *   refuse();
 * }
 * }</pre>
 *
 * <p>Its decisions leave out whether permits were {@link Reason#TOLERATED}, how many permits a
 * refused key has left, and when a key resets.
 */
public final class PackedLimiter {
  /** The number of keys whose states are fetched at once: more would not make it faster. */
  private static final int BATCH_SIZE = 64;

  private static final ThreadLocal<Batch> BATCH =
      ThreadLocal.withInitial(() -> new Batch(BATCH_SIZE));

  private final Requests requests;

  PackedLimiter(Requests requests) {
    this.requests = requests;
  }

  /** Requests one permit. */
  public long decide(String key) {
    return decide(key, 1);
  }

  /**
   * Requests permits: all of them or none.
   *
   * @param permits at least 0, which charges nothing
   */
  public long decide(String key, long permits) {
    // Read before the hash: reading the clock waits for everything that was begun before it.
    long now = requests.ticker.nanos();
    return requests.packed(requests.fingerprint.of(key), permits, now);
  }

  /**
   * Requests permits like {@link #decide(String, long)}, for a key that is a number. It is
   * independent of the key that is the text of its digits.
   */
  public long decide(long key, long permits) {
    long now = requests.ticker.nanos();
    return requests.packed(requests.fingerprint.of(key), permits, now);
  }

  /**
   * Counts a cost that is known only now, as {@link RateLimiter#charge} does. An admission has the
   * permits that are left; a refusal means that there is a debt, or that nothing could be counted.
   *
   * @param permits at least 0
   */
  public long charge(String key, long permits) {
    long now = requests.ticker.nanos();
    return requests.packedCharge(requests.fingerprint.of(key), permits, now);
  }

  /** Counts a cost like {@link #charge(String, long)}, for a key that is a number. */
  public long charge(long key, long permits) {
    long now = requests.ticker.nanos();
    return requests.packedCharge(requests.fingerprint.of(key), permits, now);
  }

  /**
   * Decides for many keys in one call, each for itself and in their order. With a single policy it
   * is faster than one by one, since the processor waits for the memory of their states once.
   *
   * @param keys numbers, as for {@link #decide(long, long)}
   * @param permits how many permits each key requests
   * @param decisions receives one decision for each key
   * @throws IllegalArgumentException if {@code decisions} is shorter than {@code keys}
   */
  public void decide(long[] keys, long permits, long[] decisions) {
    Check.notNull("keys", keys);
    Check.notNull("decisions", decisions);
    Check.range("decisions.length", decisions.length, keys.length, Integer.MAX_VALUE);
    PolicySet set = requests.set();
    Binding only = set.only;
    if (only == null) {
      for (int i = 0; i < keys.length; i++) {
        decisions[i] = decide(keys[i], permits);
      }
      return;
    }
    Batch batch = BATCH.get();
    for (int from = 0; from < keys.length; from += BATCH_SIZE) {
      int to = Math.min(keys.length, from + BATCH_SIZE);
      batch.clear();
      for (int i = from; i < to; i++) {
        batch.add(only, requests.fingerprint.of(keys[i]), permits);
      }
      requests.packed(set, batch, decisions, from);
      batch.clear();
    }
  }
}
