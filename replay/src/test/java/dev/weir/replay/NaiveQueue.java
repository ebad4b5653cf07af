package dev.weir.replay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Queues in front of a limit, written in the plainest way: each key has its limit and its queue. A
 * new request runs the queue through a copy of the limit to find out when its turn is. Requests
 * have one permit.
 */
final class NaiveQueue {
  /** A limit of one key. */
  interface Limit {
    /** Returns when a permit is free, at the given instant or later. */
    long freeAt(long nanos);

    void take(long nanos);

    Limit copy();
  }

  /** A bucket that holds credit in nanoseconds: a permit costs the time between two of them. */
  static final class Bucket implements Limit {
    private final long each;
    private final long capacity;
    private long credit;
    private long at;

    Bucket(long each, long burst) {
      this.each = each;
      capacity = burst * each;
      credit = capacity;
    }

    private void fill(long nanos) {
      credit = at == 0 ? capacity : Math.min(capacity, credit + nanos - at);
      at = nanos;
    }

    @Override
    public long freeAt(long nanos) {
      fill(nanos);
      return credit >= each ? nanos : nanos + each - credit;
    }

    @Override
    public void take(long nanos) {
      fill(nanos);
      credit -= each;
    }

    @Override
    public Limit copy() {
      Bucket copy = new Bucket(each, capacity / each);
      copy.credit = credit;
      copy.at = at;
      return copy;
    }
  }

  /** Windows that begin at multiples of their length. */
  static final class Window implements Limit {
    private final long length;
    private final long permits;
    private long number;
    private long taken;

    Window(long length, long permits) {
      this.length = length;
      this.permits = permits;
    }

    @Override
    public long freeAt(long nanos) {
      boolean open = nanos / length > number || taken < permits;
      return open ? nanos : (number + 1) * length;
    }

    @Override
    public void take(long nanos) {
      taken = nanos / length > number ? 1 : taken + 1;
      number = nanos / length;
    }

    @Override
    public Limit copy() {
      Window copy = new Window(length, permits);
      copy.number = number;
      copy.taken = taken;
      return copy;
    }
  }

  /** A log of all admissions, each of which counts for a window's length. */
  static final class Log implements Limit {
    private final long length;
    private final int permits;
    private final List<Long> admitted = new ArrayList<>();

    Log(long length, int permits) {
      this.length = length;
      this.permits = permits;
    }

    @Override
    public long freeAt(long nanos) {
      return admitted.size() < permits
          ? nanos
          : Math.max(nanos, admitted.get(admitted.size() - permits) + length);
    }

    @Override
    public void take(long nanos) {
      admitted.add(nanos);
    }

    @Override
    public Limit copy() {
      Log copy = new Log(length, permits);
      copy.admitted.addAll(admitted);
      return copy;
    }
  }

  /** The outcome of a request, with the times at which it came and was answered. */
  record Verdict(boolean admitted, long cameNanos, long answeredNanos) {}

  private record Standing(long line, long cameNanos) {}

  private static final class Key {
    final Limit limit;
    final Deque<Standing> line = new ArrayDeque<>();
    long servedNanos;

    Key(Limit limit) {
      this.limit = limit;
    }
  }

  private final Limit fresh;
  private final int requests;
  private final long waitNanos;
  private final Map<String, Key> keys = new HashMap<>();
  private final Map<Long, Verdict> verdicts = new HashMap<>();

  /**
   * @param fresh the limit of a key that was never used
   */
  NaiveQueue(Limit fresh, int requests, long waitNanos) {
    this.fresh = fresh;
    this.requests = requests;
    this.waitNanos = waitNanos;
  }

  /** Adds a request; times only grow. */
  void request(long line, String name, long nanos) {
    Key key = keys.computeIfAbsent(name, each -> new Key(fresh.copy()));
    serve(key, nanos);
    if (key.line.isEmpty() && key.limit.freeAt(nanos) == nanos) {
      key.limit.take(nanos);
      verdicts.put(line, new Verdict(true, nanos, nanos));
      return;
    }
    Limit copy = key.limit.copy();
    long turn = nanos;
    for (int i = 0; i <= key.line.size(); i++) {
      turn = copy.freeAt(turn);
      copy.take(turn);
    }
    if (key.line.size() >= requests || turn - nanos > waitNanos) {
      verdicts.put(line, new Verdict(false, nanos, nanos));
    } else {
      key.line.add(new Standing(line, nanos));
    }
  }

  private void serve(Key key, long untilNanos) {
    while (!key.line.isEmpty()) {
      Standing first = key.line.element();
      long turn = key.limit.copy().freeAt(Math.max(first.cameNanos, key.servedNanos));
      if (turn > untilNanos) {
        return;
      }
      key.line.remove();
      key.limit.take(turn);
      key.servedNanos = turn;
      verdicts.put(first.line, new Verdict(true, first.cameNanos, turn));
    }
  }

  /**
   * Returns the outcome of each request by its line, after all waiting requests have been served.
   */
  Map<Long, Verdict> finish() {
    keys.values().forEach(key -> serve(key, Long.MAX_VALUE));
    return verdicts;
  }
}
