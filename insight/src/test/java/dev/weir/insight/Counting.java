package dev.weir.insight;

import dev.weir.engine.EngineMetrics;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.RuleMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counters that a test sets, in the form in which an engine has them. */
final class Counting {
  long asked;
  long refused;
  long keys;
  long fast;
  long slow;

  /** The permits requested and those beyond the limit, by the rule's path. */
  final Map<String, long[]> rules = new TreeMap<>();

  void add(long more, long moreRefused) {
    asked += more;
    refused += moreRefused;
    fast += more;
  }

  void add(String rule, long more, long over) {
    long[] counts = rules.computeIfAbsent(rule, path -> new long[2]);
    counts[0] += more;
    counts[1] += over;
  }

  EngineMetrics metrics() {
    List<RuleMetrics> all = new ArrayList<>();
    rules.forEach(
        (path, counts) ->
            all.add(
                new RuleMetrics(path, path, counts[0] - counts[1], 0, counts[1], 0, 0, 0, 0, 0)));
    return new EngineMetrics(
        all,
        asked,
        refused,
        0,
        List.of(fast, slow, 0L),
        List.of(256L, 512L),
        0,
        0,
        0,
        0,
        keys,
        1_000,
        0,
        1_000,
        0,
        0,
        1,
        QueueMetrics.NONE);
  }
}
