package dev.weir.replay.internal.suggest;

import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.traffic.TrafficException;
import java.util.Collection;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/**
 * A search over a trace for the refusals by limits. Each limit that is asked for is replayed, and
 * its result kept. For one thread.
 */
public final class LimitSearch implements RefusalSearch {
  private static final int FORGET_EVERY = 4096;

  /**
   * The refusals by a limit.
   *
   * @param limit the permits per window
   * @param requests the number of refused requests
   * @param permits the permits that these requested
   * @param keys the number of keys with a refused request
   * @param worst the key of which the most requests are refused; -1 if none is
   * @param worstRequests the number of its refused requests
   */
  public record TriedLimit(
      long limit, long requests, long permits, long keys, int worst, long worstRequests) {}

  /** The exception by which an interrupt ends the search. */
  public static final class StoppedException extends Exception {
    private static final long serialVersionUID = 1;
  }

  private final Trace trace;
  private final LongFunction<Policy> policies;
  private final Set<Integer> ignored;
  private final Fingerprint fingerprint = Fingerprint.seeded(0, 0);
  private final TreeMap<Long, TriedLimit> tried = new TreeMap<>();

  /**
   * @param policies the policy for each limit
   * @param ignored the keys whose requests are left out
   */
  public LimitSearch(Trace trace, LongFunction<Policy> policies, Set<Integer> ignored) {
    this.trace = trace;
    this.policies = policies;
    this.ignored = ignored;
  }

  /**
   * Returns a limit that is enough while one less is not. It is the smallest if the algorithm never
   * refuses more by a higher limit.
   */
  @Override
  public TriedLimit smallest(Predicate<TriedLimit> enough)
      throws TrafficException, StoppedException {
    long no = -1;
    long yes = 1;
    while (yes < Quota.MAX_PERMITS && !enough.test(refused(yes))) {
      no = yes;
      yes = Math.min(Quota.MAX_PERMITS, 2 * yes);
    }
    if (!enough.test(refused(yes))) {
      throw new TrafficException(
          "permits: records ask for more than the highest limit (expected: at most "
              + Quota.MAX_PERMITS
              + ")");
    }
    while (yes - no > 1) {
      long middle = (no + yes) >>> 1;
      if (enough.test(refused(middle))) {
        yes = middle;
      } else {
        no = middle;
      }
    }
    return refused(yes);
  }

  /** Returns the limits tried so far, from that one on, by rising limit. */
  public Collection<TriedLimit> tried(long from) {
    return tried.tailMap(from).values();
  }

  /** Replays the whole trace by that limit. */
  @Override
  public TriedLimit refused(long limit) throws TrafficException, StoppedException {
    TriedLimit known = tried.get(limit);
    if (known != null) {
      return known;
    }
    Policy policy = policies.apply(limit);
    MemoryStore store = trace.store();
    Binding of = store.bind(policy.name(), policy, trace.firstNanos());
    long[] refusedOf = new long[trace.keys()];
    long requests = 0;
    long permits = 0;
    long keys = 0;
    int worst = -1;
    Trace.Cursor cursor = trace.cursor();
    for (long i = 1; cursor.next(); i++) {
      int key = cursor.key();
      // No algorithm refuses a key that requests no more than the limit in total.
      if (trace.total(key) > limit && (ignored.isEmpty() || !ignored.contains(key))) {
        long decision = store.decide(of, fingerprint.of(key), cursor.permits(), cursor.nanos());
        if (decision == PackedDecision.KEY_SPACE_FULL) {
          throw trace.noRoom();
        }
        if (!PackedDecision.allowed(decision)) {
          requests++;
          permits += cursor.permits();
          keys += refusedOf[key]++ == 0 ? 1 : 0;
          worst = worst < 0 || refusedOf[key] > refusedOf[worst] ? key : worst;
        }
      }
      if (i % FORGET_EVERY == 0) {
        store.expire(cursor.nanos());
        if (Thread.interrupted()) {
          throw new StoppedException();
        }
      }
    }
    TriedLimit result =
        new TriedLimit(limit, requests, permits, keys, worst, worst < 0 ? 0 : refusedOf[worst]);
    tried.put(limit, result);
    return result;
  }
}
