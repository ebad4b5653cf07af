package dev.weir.testkit;

import dev.weir.Policy;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A check of whether the history of one key can have come from a limiter that decides one request
 * after the other, each at an instant between its start and its end.
 *
 * <p>The search is Wing and Gong's with Lowe's memory of earlier tries: at each step one of the
 * requests is decided that began before every undecided one ended, and the {@link Oracle} must give
 * the answer in the history. A request without an answer may have been charged at any time after
 * its start, or never, and its charge may have been given back at any time after that.
 *
 * <p>The oracle's time stands still: only histories are checked in which nothing is forgotten.
 */
public final class Linearizability {
  /**
   * The most calls of a history. More would take too long: the search is exponential in the worst
   * case.
   */
  public static final int MOST_CALLS = 64;

  /** The answer that a client received. */
  public enum Outcome {
    ADMITTED,
    REFUSED,
    /** No answer, or the answer that the outcome is not known. */
    UNKNOWN
  }

  /**
   * A request.
   *
   * @param endNanos the instant of its answer; meaningless if the outcome is unknown
   */
  public record Call(long startNanos, long endNanos, long permits, Outcome outcome) {}

  private static final String KEY = "key";

  private final List<Call> calls;
  private final Policy policy;

  /** The sets of events that lead to no solution: calls by their index, then the refund of each. */
  private final Set<BitSet> hopeless = new HashSet<>();

  private Linearizability(List<Call> calls, Policy policy) {
    this.calls = calls;
    this.policy = policy;
  }

  /**
   * Returns whether there is such an order.
   *
   * @param history all requests for one key, in any order, at most {@link #MOST_CALLS}
   * @param policy of a window that is longer than the history
   */
  public static boolean holds(List<Call> history, Policy policy) {
    if (history.size() > MOST_CALLS) {
      throw new IllegalArgumentException(
          "history: " + history.size() + " calls (expected: at most " + MOST_CALLS + ")");
    }
    return new Linearizability(List.copyOf(history), policy).explains(new BitSet(), 0);
  }

  /**
   * Returns whether the remaining events can be explained after those, with {@code used} permits in
   * use.
   */
  private boolean explains(BitSet done, long used) {
    long firstEnd = Long.MAX_VALUE;
    boolean all = true;
    for (int i = 0; i < calls.size(); i++) {
      if (!done.get(i) && calls.get(i).outcome() != Outcome.UNKNOWN) {
        firstEnd = Math.min(firstEnd, calls.get(i).endNanos());
        all = false;
      }
    }
    if (all) {
      return true;
    }
    if (!hopeless.add((BitSet) done.clone())) {
      return false;
    }
    for (int i = 0; i < calls.size(); i++) {
      Call call = calls.get(i);
      int back = calls.size() + i;
      if (!done.get(i) && call.startNanos() <= firstEnd) {
        boolean fits = fits(used, call.permits());
        boolean charged = call.outcome() != Outcome.REFUSED;
        if (fits == charged && explains(done, i, used + (charged ? call.permits() : 0))) {
          return true;
        }
      } else if (done.get(i)
          && call.outcome() == Outcome.UNKNOWN
          && !done.get(back)
          && explains(done, back, used - call.permits())) {
        return true;
      }
    }
    return false;
  }

  private boolean explains(BitSet done, int event, long used) {
    done.set(event);
    boolean explained = explains(done, used);
    done.clear(event);
    return explained;
  }

  private boolean fits(long used, long permits) {
    Oracle oracle = Oracle.of(policy);
    return oracle.decide(KEY, 0, used).allowed() && oracle.peek(KEY, 0, permits).allowed();
  }
}
