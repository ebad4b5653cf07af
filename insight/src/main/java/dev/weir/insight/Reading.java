package dev.weir.insight;

import dev.weir.engine.EngineMetrics;
import dev.weir.engine.RuleMetrics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The counters of an engine at one instant. Immutable: the arrays are never changed. */
final class Reading {
  private final long atNanos;
  private final long time;
  private final long[] global;
  private final List<Long> times;
  private final List<Long> bounds;
  private final Map<String, long[]> rules;

  /**
   * @param atNanos the instant, on the monotonic clock
   * @param time the same instant for people, in nanoseconds since 1970
   * @param global the counters and gauges of {@link Series#GLOBAL}, without the times of decisions
   * @param times the numbers of decisions that took at most the bound of the same index
   * @param rules the counters of {@link Series#RULE}, by the rule's path
   */
  private Reading(
      long atNanos,
      long time,
      long[] global,
      List<Long> times,
      List<Long> bounds,
      Map<String, long[]> rules) {
    this.atNanos = atNanos;
    this.time = time;
    this.global = global;
    this.times = times;
    this.bounds = bounds;
    this.rules = rules;
  }

  long atNanos() {
    return atNanos;
  }

  long time() {
    return time;
  }

  long[] global() {
    return global;
  }

  Map<String, long[]> rules() {
    return rules;
  }

  static Reading of(EngineMetrics metrics, int fullPercent, long atNanos, long time) {
    long[] global = {
      metrics.requests(),
      metrics.denied(),
      metrics.errors(),
      metrics.uncertain(),
      metrics.overloaded(),
      metrics.keySpaceFull(),
      Series.UNKNOWN,
      Series.UNKNOWN,
      metrics.keys(),
      fullPercent,
      metrics.bytes(),
      metrics.queues().waiting()
    };
    Map<String, long[]> rules = new HashMap<>();
    for (RuleMetrics rule : metrics.rules()) {
      long[] counts = {
        rule.totalHits(),
        rule.withinLimit(),
        rule.nearLimit(),
        rule.overLimit(),
        rule.tolerated(),
        rule.shadowMode()
      };
      rules.put(rule.path(), counts);
    }
    return new Reading(
        atNanos,
        time,
        global,
        metrics.decisionTimeCounts(),
        metrics.decisionTimeBoundsNanos(),
        rules);
  }

  /**
   * Returns the growth of a counter. A counter that is smaller than before has begun anew, so it
   * has counted at least its value.
   */
  static long growth(long before, long now) {
    return now >= before ? now - before : now;
  }

  /**
   * Returns the time within which so many in a thousand of the decisions since another reading were
   * made: the bound of a histogram, or {@link Series#UNKNOWN} if there was no decision.
   */
  long quantile(Reading before, int permille) {
    long[] grown = new long[times.size()];
    long all = 0;
    for (int i = 0; i < grown.length; i++) {
      long earlier = i < before.times.size() ? before.times.get(i) : 0;
      grown[i] = growth(earlier, times.get(i));
      all += grown[i];
    }
    if (all == 0) {
      return Series.UNKNOWN;
    }
    long wanted = (all * permille + 999) / 1_000;
    for (int i = 0; i < grown.length; i++) {
      wanted -= grown[i];
      if (wanted <= 0) {
        return bounds.get(Math.min(i, bounds.size() - 1));
      }
    }
    return bounds.get(bounds.size() - 1);
  }
}
