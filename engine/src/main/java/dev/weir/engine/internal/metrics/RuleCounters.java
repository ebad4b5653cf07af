package dev.weir.engine.internal.metrics;

import dev.weir.Reason;
import dev.weir.engine.RuleMetrics;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters for one label. Safe for use by many threads.
 *
 * <p>Each requested permit counts in exactly one class, and the hits are the sum of the classes, so
 * that both agree whenever they are read. Near the limit and only watched are no classes: they mark
 * permits that are in one.
 */
public final class RuleCounters {
  private final LongAdder withinLimit = new LongAdder();
  private final LongAdder tolerated = new LongAdder();
  private final LongAdder overLimit = new LongAdder();
  private final LongAdder incomplete = new LongAdder();
  private final LongAdder refusedByOther = new LongAdder();
  private final LongAdder undecided = new LongAdder();

  private final LongAdder nearLimit = new LongAdder();
  private final LongAdder shadowMode = new LongAdder();

  /**
   * Counts one decision. Permits of which it is not known whether they fit are never counted as
   * over the limit: an operator must be able to distinguish a store that is away from callers
   * beyond their limits.
   *
   * @param reason the reason of the decision before anything makes up for a refusal, such as a
   *     shadow
   * @param limit the most permits the key can hold
   * @param remaining the remaining permits of that decision; negative for a debt
   * @param fits whether the permits fit by themselves
   * @param passed whether the request passed: permits that fit were charged
   */
  public void count(
      long permits,
      Reason reason,
      long limit,
      long remaining,
      boolean fits,
      boolean passed,
      boolean shadowed,
      int nearPercent) {
    switch (reason) {
      case UNCERTAIN, OVERLOADED, KEY_SPACE_FULL -> undecided.add(permits);
      case TOLERATED -> (passed ? tolerated : refusedByOther).add(permits);
      default -> {
        if (remaining < 0) {
          owed(permits, limit, remaining, nearPercent);
        } else if (!fits) {
          over(permits, limit, remaining, nearPercent);
        } else if (passed) {
          withinLimit.add(permits);
          long used = limit - remaining;
          addNear(above(near(limit, nearPercent), used - permits, used));
        } else {
          refusedByOther.add(permits);
        }
      }
    }
    if (shadowed) {
      shadowMode.add(permits);
    }
  }

  /** Divides permits of a report into those beyond the limit, which are a debt, and the others. */
  private void owed(long permits, long limit, long remaining, int nearPercent) {
    long beyond = Math.min(permits, -remaining);
    overLimit.add(beyond);
    withinLimit.add(permits - beyond);
    addNear(above(near(limit, nearPercent), limit - permits + beyond, limit));
  }

  /** Divides permits that do not all fit into those beyond the limit and those that would fit. */
  private void over(long permits, long limit, long remaining, int nearPercent) {
    long beyond = Math.max(Math.min(1, permits), permits - remaining);
    overLimit.add(beyond);
    incomplete.add(permits - beyond);
    addNear(above(near(limit, nearPercent), limit - remaining, limit));
  }

  private static long near(long limit, int nearPercent) {
    return limit * nearPercent / 100;
  }

  private void addNear(long permits) {
    if (permits > 0) {
      nearLimit.add(permits);
    }
  }

  /** Returns how much of {@code from..to} is above {@code mark}. */
  private static long above(long mark, long from, long to) {
    return Math.max(0, to - Math.max(mark, from));
  }

  RuleMetrics snapshot(String path, String policy) {
    return new RuleMetrics(
        path,
        policy,
        withinLimit.sum(),
        tolerated.sum(),
        overLimit.sum(),
        incomplete.sum(),
        refusedByOther.sum(),
        undecided.sum(),
        nearLimit.sum(),
        shadowMode.sum());
  }
}
