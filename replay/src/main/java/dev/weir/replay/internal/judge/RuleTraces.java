package dev.weir.replay.internal.judge;

import dev.weir.rules.Rule;
import dev.weir.traffic.TrafficException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What reached each rule, in memory, so that other limits can be tried on it afterwards. Bounded:
 * what takes too much is given up, the rule with the most first. Used by one thread.
 */
final class RuleTraces {
  /** A trace begins with a chunk of a megabyte, so more rules than this are not followed. */
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
   * @param maxRecords of all rules together
   * @param maxBytes of one rule
   */
  RuleTraces(long maxRecords, long maxBytes) {
    this.maxRecords = maxRecords;
    this.maxBytes = maxBytes;
  }

  /** Takes what a request asks of a rule. */
  void add(RuleKey key, long nanos, long permits) {
    Rule rule = key.rule();
    if (givenUp.containsKey(rule)) {
      return;
    }
    Trace trace = traces.get(rule);
    if (trace == null) {
      if (traces.size() + givenUp.size() >= MAX_RULES) {
        return;
      }
      trace = new Trace(maxBytes);
      traces.put(rule, trace);
    }
    try {
      trace.add(nanos, key.key(), permits);
      records++;
    } catch (TrafficException e) {
      giveUp(rule); // More than there is memory for.
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

  /** Returns what reached a rule; null if that was nothing, or too much. */
  Map.@Nullable Entry<Rule, Trace> of(String path) {
    for (Map.Entry<Rule, Trace> each : traces.entrySet()) {
      if (each.getKey().path().equals(path)) {
        return each;
      }
    }
    return null;
  }
}
