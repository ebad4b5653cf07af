package dev.weir.server;

import dev.weir.Batch;
import dev.weir.Decision;
import dev.weir.Limit;
import dev.weir.PackedDecision;
import org.jspecify.annotations.Nullable;

/**
 * Calls of {@code CL.THROTTLE} and {@code THROTTLE} that wait to be decided together, and their
 * replies. The two dialects contradict each other: [redis-cell] says whether a call is limited,
 * [throttlecrab] whether it is allowed; their limits differ by one, and the last two numbers change
 * places. Confined to one event loop.
 */
final class ThrottleCalls {
  /** Whose words a call is in. */
  enum Dialect {
    CELL,
    CRAB
  }

  /** More than that are decided in parts: what they touch should stay in the cache. */
  private static final int MAX_CALLS = 128;

  private static final long SECOND = 1_000_000_000L;

  private final ThrottleTable table;
  private final Batch batch = new Batch(MAX_CALLS).detailed();
  private final Dialect[] dialects = new Dialect[MAX_CALLS];

  // Most callers use the same numbers again and again.
  private @Nullable Limit last;
  private long lastBurst;
  private long lastCount;
  private long lastSeconds;

  ThrottleCalls(ThrottleTable table) {
    this.table = table;
  }

  ThrottleTable table() {
    return table;
  }

  boolean full() {
    return batch.size() == MAX_CALLS;
  }

  /**
   * Adds a call; there must be room.
   *
   * @param burst as the algorithm has it: how many permits a rested key has at once
   * @throws IllegalArgumentException if the numbers make no bucket; its message says why
   */
  void add(Dialect dialect, long key, long burst, long count, long periodSeconds, long quantity) {
    Limit limit = last;
    if (limit == null || burst != lastBurst || count != lastCount || periodSeconds != lastSeconds) {
      limit = table.limit(burst, count, periodSeconds);
      last = limit;
      lastBurst = burst;
      lastCount = count;
      lastSeconds = periodSeconds;
    }
    dialects[batch.size()] = dialect;
    batch.add(limit, key, quantity);
  }

  /** Decides all calls and writes their replies, in their order. */
  void run(long nowNanos, RespWriter out) {
    int size = batch.size();
    if (size == 0) {
      return;
    }
    try {
      table.store().decide(batch, nowNanos, ThrottleCalls::decided);
      int denied = 0;
      for (int i = 0; i < size; i++) {
        reply(i, out);
        denied += batch.allowed(i) ? 0 : 1;
      }
      table.count(size, denied);
    } finally {
      batch.clear(); // The next connection must not have the replies of one that has failed.
    }
  }

  /** Forgets calls that nobody will wait for. */
  void forget() {
    batch.clear();
  }

  /** Does nothing: this store has decided before it returns. */
  private static void decided(Batch batch) {}

  private void reply(int i, RespWriter out) {
    long packed = batch.decision(i);
    boolean allowed = PackedDecision.allowed(packed);
    long limit = batch.limit(i).policy().burst();
    long retry = allowed ? 0 : retrySeconds(i, packed);
    long reset = seconds(batch.resetAfterNanos(i));
    out.array(5);
    if (dialects[i] == Dialect.CELL) {
      out.integer(allowed ? 0 : 1).integer(limit).integer(batch.remaining(i));
      out.integer(allowed ? -1 : retry).integer(reset);
    } else {
      out.integer(allowed ? 1 : 0).integer(limit).integer(batch.remaining(i));
      out.integer(reset).integer(retry);
    }
  }

  /** Returns -1 where no time helps; without room for the key, a period is as good as any. */
  private long retrySeconds(int i, long packed) {
    if (packed == PackedDecision.KEY_SPACE_FULL) {
      table.keySpaceFull.increment();
      return seconds(batch.limit(i).policy().quota().windowNanos());
    }
    long nanos = PackedDecision.retryAfterNanos(packed);
    return nanos == Decision.NEVER ? -1 : seconds(nanos);
  }

  private static long seconds(long nanos) {
    return nanos / SECOND + (nanos % SECOND > 0 ? 1 : 0);
  }
}
