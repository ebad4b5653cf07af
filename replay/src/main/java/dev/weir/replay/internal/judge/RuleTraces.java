package dev.weir.replay.internal.judge;

import dev.weir.rules.Rule;
import dev.weir.traffic.TrafficException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests that reached each rule, in memory, so that other limits can be tried on them
 * afterwards. Bounded: if they need too much memory, traces are given up, the largest first. For
 * one thread.
 */
final class RuleTraces {
  /** The most rules that are followed: a trace begins with a chunk of a megabyte. */
  static final int MAX_RULES = 64;

  private final long maxRecords;
  private final Map<Rule, Trace> traces = new HashMap<>();
  private final Map<Rule, Boolean> givenUp = new HashMap<>();
  private final long maxBytes;
  private long records;

  RuleTraces() {
    this(4_000_000, Runtime.getRuntime().maxMemory() / 8);
  }

  /**
   * @param maxRecords the most records of all rules together
   * @param maxBytes the most bytes of one rule
   */
  RuleTraces(long maxRecords, long maxBytes) {
    this.maxRecords = maxRecords;
    this.maxBytes = maxBytes;
  }

  /** Adds a request's charge to a rule. */
  void add(RuleKey key, long nanos, long permits) {
    add(key, nanos, permits, -1);
  }

  /**
   * Adds a request's charge to a rule.
   *
   * @param durationNanos the time that the request took, in nanoseconds; -1 if the rule's requests
   *     have none
   */
  void add(RuleKey key, long nanos, long permits, long durationNanos) {
    Rule rule = key.rule();
    if (givenUp.containsKey(rule)) {
      return;
    }
    Trace trace = traces.get(rule);
    if (trace == null) {
      if (traces.size() + givenUp.size() >= MAX_RULES) {
        return;
      }
      trace = durationNanos < 0 ? new Trace(maxBytes) : Trace.timed(maxBytes);
      traces.put(rule, trace);
    }
    try {
      trace.add(nanos, key.key(), permits, durationNanos);
      records++;
    } catch (TrafficException e) {
      giveUp(rule); // There is not enough memory for it.
    }
    if (records > maxRecords) {
      giveUpLargest();
    }
  }

  private void giveUpLargest() {
    Rule largest = null;
    long most = -1;
    for (Map.Entry<Rule, Trace> each : traces.entrySet()) {
      if (each.getValue().size() > most) {
        most = each.getValue().size();
        largest = each.getKey();
      }
    }
    if (largest != null) {
      giveUp(largest);
    }
  }

  private void giveUp(Rule rule) {
    Trace gone = traces.remove(rule);
    records -= gone == null ? 0 : gone.size();
    givenUp.put(rule, true);
  }

  /** Returns the requests that reached a rule; null if there were none, or too many. */
  Map.@Nullable Entry<Rule, Trace> of(String path) {
    for (Map.Entry<Rule, Trace> each : traces.entrySet()) {
      if (each.getKey().path().equals(path)) {
        return each;
      }
    }
    return null;
  }
}
