package dev.weir;

import java.util.Arrays;

/** Every admission that still counts, with its instant: the exact sliding window. */
final class SlidingLog extends Meter {
  /*
   * How is SlidingLog designed, and why? A ring of (instant, sum) pairs in the order of time, where
   * sum is the permits admitted up to and including that instant since the key was first seen.
   * Differences of sums are counts, so "how many count now" and "when will k have left" are both a
   * binary search, however many permits one entry holds; permits of one instant share an entry.
   * Sums may wrap: only their differences matter.
   *
   * The ring starts small and doubles with traffic, so it never allocates for a limit it has not
   * reached. At MAX_ENTRIES it is thinned instead: neighbours merge into the later instant, which
   * keeps their permits counted longer and so can only deny. So is a log that only records what
   * others admit, as soon as it has more entries than its own limit could need.
   *
   * A reservation is an entry in the future. Entries leave only when they are older than the
   * present's window, never a reservation's, so a cancelled one leaves everything as it was.
   */
  private static final int CLOCK = 0;
  private static final int FIRST = 1;
  private static final int SIZE = 2;
  private static final int BASE = 3;
  private static final int RING = 4;

  private static final int FIRST_ENTRIES = 4;

  /** What one key can cost: 16 MiB. A power of two times {@link #FIRST_ENTRIES}. */
  static final int MAX_ENTRIES = 1 << 20;

  private final long window;

  SlidingLog(long windowNanos) {
    this.window = windowNanos;
  }

  @Override
  long[] fresh() {
    long[] state = new long[RING + 2 * FIRST_ENTRIES];
    state[CLOCK] = LONG_AGO;
    return state;
  }

  @Override
  long effectiveNanos(long[] state, long now) {
    return Math.max(now, state[CLOCK]);
  }

  /** Returns where the instant of the i-th oldest entry stands; its sum stands behind it. */
  private static int at(long[] state, long i) {
    int entries = (state.length - RING) / 2;
    int slot = (int) (state[FIRST] + i);
    return RING + 2 * (slot < entries ? slot : slot - entries);
  }

  private static long instant(long[] state, long i) {
    return state[at(state, i)];
  }

  /** Returns the sum up to and including the i-th oldest entry; that before the oldest for -1. */
  private static long sum(long[] state, long i) {
    return i < 0 ? state[BASE] : state[at(state, i) + 1];
  }

  private static long newest(long[] state) {
    return state[SIZE] == 0 ? LONG_AGO : instant(state, state[SIZE] - 1);
  }

  /** Returns the first entry with an instant after {@code cutoff}, the size if there is none. */
  private static long firstAfter(long[] state, long cutoff) {
    long low = 0;
    long high = state[SIZE];
    if (high == 0 || instant(state, 0) > cutoff) {
      return 0;
    }
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (instant(state, middle) > cutoff) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private long counted(long[] state, long at) {
    return sum(state, state[SIZE] - 1) - sum(state, firstAfter(state, at - window) - 1);
  }

  @Override
  long fitNanos(long[] state, long now, long permits, Policy policy) {
    long limit = policy.quota().permits();
    long at = Math.max(now, newest(state));
    long first = firstAfter(state, at - window);
    long before = sum(state, first - 1);
    long over = sum(state, state[SIZE] - 1) - before + permits - limit;
    if (over <= 0) {
      return at - now;
    }
    // The first entry whose leaving frees enough.
    long low = first;
    long high = state[SIZE] - 1;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (sum(state, middle) - before >= over) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return instant(state, low) + window - now;
  }

  @Override
  long[] charge(long[] state, long now, long wait, long permits, Policy policy) {
    state[CLOCK] = now;
    drop(state, firstAfter(state, now - window));
    return append(state, now + wait, permits);
  }

  @Override
  long[] force(long[] state, long now, long at, long permits, Policy policy, Policy admitting) {
    state[CLOCK] = Math.max(state[CLOCK], now);
    drop(state, firstAfter(state, now - window));
    // Nothing that counts is dropped, however small this limit: a larger one may follow.
    long most = 2 * Math.max(Policy.LOG_LIMIT, policy.quota().permits());
    return append(state[SIZE] < most ? state : thinned(state), at, permits);
  }

  private static void drop(long[] state, long count) {
    if (count > 0) {
      state[BASE] = sum(state, count - 1);
      state[FIRST] = (state[FIRST] + count) % ((state.length - RING) / 2);
      state[SIZE] -= count;
    }
  }

  private static long[] append(long[] state, long at, long permits) {
    long sum = sum(state, state[SIZE] - 1) + permits;
    if (state[SIZE] > 0 && newest(state) >= at) {
      state[at(state, state[SIZE] - 1) + 1] = sum;
      return state;
    }
    long[] roomy = state;
    if (RING + 2 * state[SIZE] == state.length) {
      roomy = state[SIZE] < MAX_ENTRIES ? grown(state) : thinned(state);
    }
    int slot = at(roomy, roomy[SIZE]);
    roomy[slot] = at;
    roomy[slot + 1] = sum;
    roomy[SIZE]++;
    return roomy;
  }

  /** Returns a copy with twice the room, its oldest entry first in the ring. */
  private static long[] grown(long[] state) {
    int entries = (state.length - RING) / 2;
    int first = at(state, 0);
    long[] grown = Arrays.copyOf(state, RING + 4 * entries);
    System.arraycopy(state, first, grown, RING, state.length - first);
    System.arraycopy(state, RING, grown, RING + state.length - first, first - RING);
    grown[FIRST] = 0;
    return grown;
  }

  /** Merges each pair of neighbours into the later one. */
  private static long[] thinned(long[] state) {
    long kept = (state[SIZE] + 1) / 2;
    for (long i = 0; i < kept; i++) {
      int from = at(state, Math.min(2 * i + 1, state[SIZE] - 1));
      int to = at(state, i);
      state[to] = state[from];
      state[to + 1] = state[from + 1];
    }
    state[SIZE] = kept;
    return state;
  }

  @Override
  long refund(long[] state, long now, long permits, long at, long resetNanos, Policy policy) {
    long entry = firstAfter(state, at - 1);
    if (at <= now - window || entry == state[SIZE] || instant(state, entry) != at) {
      return 0;
    }
    long given = Math.min(permits, sum(state, entry) - sum(state, entry - 1));
    for (long i = entry; i < state[SIZE]; i++) {
      state[at(state, i) + 1] -= given;
    }
    while (state[SIZE] > 0 && sum(state, state[SIZE] - 1) == sum(state, state[SIZE] - 2)) {
      state[SIZE]--; // The newest holds nothing any more, so nobody needs to queue behind it.
    }
    return given;
  }

  @Override
  long remaining(long[] state, long now, Policy policy) {
    if (newest(state) > now) {
      return 0;
    }
    return Math.max(0, policy.quota().permits() - counted(state, now));
  }

  @Override
  long restedAtNanos(long[] state) {
    return Math.max(newest(state), state[CLOCK]) + window;
  }

  @Override
  void outline(long[] state, long now, Policy policy, Sink sink) {
    for (long i = firstAfter(state, now - window); i < state[SIZE]; i++) {
      long permits = sum(state, i) - sum(state, i - 1);
      if (permits > 0) {
        sink.charged(instant(state, i), permits);
      }
    }
  }
}
