package dev.weir.engine;

import dev.weir.Decision;
import dev.weir.Reason;
import java.util.concurrent.atomic.LongAdder;

/** Counts for one label. Safe for use by many threads. */
final class RuleCounters {
  private final LongAdder totalHits = new LongAdder();
  private final LongAdder overLimit = new LongAdder();
  private final LongAdder nearLimit = new LongAdder();
  private final LongAdder withinLimit = new LongAdder();
  private final LongAdder tolerated = new LongAdder();
  private final LongAdder shadowMode = new LongAdder();

  /**
   * Counts one verdict. Permits of which nobody knows whether they fit are hits and nothing else: a
   * store that is away must not read as callers beyond their limits.
   *
   * @param fits whether the permits fit for themselves
   * @param passed whether the request passed: what fits was charged
   */
  void count(
      long permits,
      Decision decision,
      boolean fits,
      boolean passed,
      boolean shadowed,
      int nearPercent) {
    totalHits.add(permits);
    long limit = decision.limit();
    long near = limit * nearPercent / 100;
    long used = limit - decision.remaining();
    if (decision.reason() == Reason.TOLERATED) {
      tolerated.add(passed ? permits : 0);
    } else if (fits && passed) {
      withinLimit.add(permits);
      addNear(above(near, used - permits, used));
    } else if (!fits && decision.reason() != Reason.UNCERTAIN) {
      long beyond = Math.min(permits, permits - decision.remaining());
      overLimit.add(beyond);
      addNear(above(near, used, limit));
    }
    if (shadowed) {
      shadowMode.add(permits);
    }
  }

  private void addNear(long permits) {
    if (permits > 0) {
      nearLimit.add(permits);
    }
  }

  /** Returns how much of {@code from..to} lies above {@code mark}. */
  private static long above(long mark, long from, long to) {
    return Math.max(0, to - Math.max(mark, from));
  }

  RuleMetrics snapshot(String path) {
    return new RuleMetrics(
        path,
        totalHits.sum(),
        overLimit.sum(),
        nearLimit.sum(),
        withinLimit.sum(),
        tolerated.sum(),
        shadowMode.sum());
  }
}
