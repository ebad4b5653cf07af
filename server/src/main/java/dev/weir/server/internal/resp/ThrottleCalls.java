package dev.weir.server.internal.resp;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.PackedDecision;
import dev.weir.Reason;
import dev.weir.engine.CallerBuckets;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Calls of {@code CL.THROTTLE}, {@code GCRA}, {@code THROTTLE} and {@code INCREX} that wait to be
 * decided together, and their replies. The dialects contradict each other: [redis-cell] and {@code
 * GCRA} state whether a call is limited, [throttlecrab] whether it is allowed; their limits differ
 * by one, and the last two numbers change places. Confined to one event loop.
 */
final class ThrottleCalls {
  /** The dialect of a call. */
  enum Dialect {
    CELL,
    CRAB,
    GCRA,
    INCREX
  }

  /**
   * The most calls in one part; more are decided in several, so that their data stays in the cache.
   */
  private static final int MAX_CALLS = 128;

  /** The first room of a group, if each group is a new one. */
  private static final int FEW_CALLS = 8;

  private static final long SECOND = 1_000_000_000L;

  private static final String OVERLOADED =
      "OVERLOADED the store is behind with its work, nothing was decided";

  private final CallerBuckets buckets;

  /** The calls that have not been decided. */
  private Group waiting;

  /**
   * Calls that are decided together. They belong to the store from the call of the store until its
   * answer. If the store answers at once, one group is used again and again.
   */
  private static final class Group {
    final Batch batch;
    Dialect[] dialects;

    Group(int capacity) {
      batch = new Batch(capacity).detailed();
      dialects = new Dialect[capacity];
    }

    void add(Dialect dialect, Binding limit, long key, long quantity) {
      int size = batch.size();
      if (size == dialects.length) {
        dialects = Arrays.copyOf(dialects, 2 * size);
      }
      dialects[size] = dialect;
      batch.add(limit, key, quantity);
    }
  }

  ThrottleCalls(CallerBuckets buckets) {
    this.buckets = buckets;
    waiting = empty();
  }

  private Group empty() {
    return new Group(buckets.decidesHere() ? MAX_CALLS : FEW_CALLS);
  }

  CallerBuckets buckets() {
    return buckets;
  }

  boolean full() {
    return waiting.batch.size() == MAX_CALLS;
  }

  /**
   * Adds a call; there must be room.
   *
   * @param limit the bucket or window, of {@link #buckets}
   */
  void add(Dialect dialect, Binding limit, long key, long quantity) {
    waiting.add(dialect, limit, key, quantity);
  }

  /**
   * Decides all calls, and writes their replies in their order.
   *
   * @param later receives the task that writes the replies, to be run on the event loop, if the
   *     store answers later; perhaps before this method returns
   * @return whether the replies are written; if not, {@code later} receives them
   */
  boolean run(long nowNanos, RespWriter out, Consumer<Runnable> later) {
    Group calls = waiting;
    Batch batch = calls.batch;
    if (batch.size() == 0) {
      return true;
    }
    if (!buckets.decidesHere()) {
      waiting = empty();
      buckets.decide(batch, nowNanos, decided -> later.accept(() -> reply(calls, out)));
      return false;
    }
    try {
      buckets.decide(batch, nowNanos, ThrottleCalls::decided);
      reply(calls, out);
    } finally {
      batch.clear(); // The next connection must not get the replies of one that has failed.
    }
    return true;
  }

  /** Drops the calls of a client that no longer waits. */
  void forget() {
    waiting.batch.clear();
  }

  /** Does nothing: this store has decided before it returns. */
  private static void decided(Batch batch) {}

  private static void reply(Group calls, RespWriter out) {
    for (int i = 0; i < calls.batch.size(); i++) {
      reply(calls, i, out);
    }
  }

  private static void reply(Group calls, int i, RespWriter out) {
    Batch batch = calls.batch;
    long packed = batch.decision(i);
    Reason reason = PackedDecision.reason(packed);
    if (reason == Reason.UNCERTAIN || reason == Reason.OVERLOADED) {
      out.error(reason == Reason.UNCERTAIN ? uncertain(batch.cause(i)) : OVERLOADED);
      return;
    }
    boolean allowed = PackedDecision.allowed(packed);
    if (calls.dialects[i] == Dialect.INCREX) {
      long used = batch.binding(i).policy().quota().permits() - batch.remaining(i);
      out.array(2).integer(used).integer(allowed ? batch.permits(i) : 0);
      return;
    }
    long limit = batch.binding(i).policy().burst();
    long retry = allowed ? 0 : retrySeconds(batch, i);
    long reset = seconds(batch.resetAfterNanos(i));
    out.array(5);
    if (calls.dialects[i] == Dialect.CRAB) {
      out.integer(allowed ? 1 : 0).integer(limit).integer(batch.remaining(i));
      out.integer(reset).integer(retry);
      return;
    }
    long full = reset == 0 && calls.dialects[i] == Dialect.GCRA ? -1 : reset;
    out.integer(allowed ? 0 : 1).integer(limit).integer(batch.remaining(i));
    out.integer(allowed ? -1 : retry).integer(full);
  }

  private static String uncertain(String cause) {
    return "UNCERTAIN the store did not decide"
        + (cause.isEmpty() ? "" : " (" + cause + ")")
        + ", nothing was admitted";
  }

  /**
   * Returns -1 if no time helps; without room for the key, a period is as good as any other time.
   */
  private static long retrySeconds(Batch batch, int i) {
    long packed = batch.decision(i);
    if (packed == PackedDecision.KEY_SPACE_FULL) {
      return seconds(batch.binding(i).policy().quota().windowNanos());
    }
    long nanos = PackedDecision.retryAfterNanos(packed);
    return nanos == Decision.NEVER ? -1 : seconds(nanos);
  }

  private static long seconds(long nanos) {
    return nanos / SECOND + (nanos % SECOND > 0 ? 1 : 0);
  }
}
