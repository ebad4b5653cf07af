package dev.weir.admin.internal.stats;

import dev.weir.admin.internal.http.Documents;
import dev.weir.insight.Series;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sum of several servers' counts over time. */
final class StatsMerge {
  /** Members of which the largest is shown: each server has its own. All others are added up. */
  private static final Set<String> LARGEST = Set.of("p50_nanos", "p99_nanos", "full_percent");

  private static final Set<String> SUMS = Set.of("keys", "state_bytes", "queued");

  private StatsMerge() {}

  /**
   * Adds up columns. The counts of servers that cover less time than another are scaled to the
   * longest time, so that rates are sums of rates.
   */
  static Map<String, Object> columns(List<Map<String, @Nullable Object>> documents) {
    Map<String, Object> all = Documents.copy(documents.get(0));
    Map<String, @Nullable Object> own = Documents.object(all.get("columns"));
    List<@Nullable Object> time = Documents.list(own.get("time"));
    List<Map<String, @Nullable Object>> each = new ArrayList<>();
    for (Map<String, @Nullable Object> document : documents) {
      Map<String, @Nullable Object> columns = Documents.object(document.get("columns"));
      if (Documents.list(columns.get("time")).equals(time)) {
        each.add(columns);
      }
    }
    List<Long> millis = new ArrayList<>();
    List<Long> nodes = new ArrayList<>();
    for (int i = 0; i < time.size(); i++) {
      long most = 0;
      long known = 0;
      for (Map<String, @Nullable Object> columns : each) {
        long covered = at(columns, "millis", i);
        most = Math.max(most, covered);
        known += covered > 0 ? 1 : 0;
      }
      millis.add(most);
      nodes.add(known);
    }
    Map<String, Object> merged = new LinkedHashMap<>();
    merged.put("time", time);
    merged.put("millis", millis);
    for (String name : own.keySet()) {
      if (!merged.containsKey(name)) {
        merged.put(name, column(name, each, millis));
      }
    }
    merged.put("nodes", nodes);
    all.put("columns", merged);
    return all;
  }

  private static long at(Map<String, @Nullable Object> columns, String name, int i) {
    List<@Nullable Object> column = Documents.list(columns.get(name));
    return i < column.size() ? Documents.count(column.get(i)) : 0;
  }

  private static List<@Nullable Long> column(
      String name, List<Map<String, @Nullable Object>> each, List<Long> millis) {
    List<@Nullable Long> merged = new ArrayList<>(millis.size());
    for (int i = 0; i < millis.size(); i++) {
      Long sum = null;
      for (Map<String, @Nullable Object> columns : each) {
        List<@Nullable Object> column = Documents.list(columns.get(name));
        Long value = i < column.size() ? Documents.number(column.get(i)) : null;
        if (value != null) {
          long covered = at(columns, "millis", i);
          long scaled = SUMS.contains(name) ? value : scaled(value, covered, millis.get(i));
          sum = sum == null ? first(name, value, scaled) : join(name, sum, value, scaled);
        }
      }
      merged.add(sum);
    }
    return merged;
  }

  private static long first(String name, long value, long scaled) {
    return LARGEST.contains(name) ? value : scaled;
  }

  private static long join(String name, long sum, long value, long scaled) {
    return LARGEST.contains(name) ? Math.max(sum, value) : sum + scaled;
  }

  private static long scaled(long value, long covered, long wanted) {
    return covered == 0 || covered == wanted
        ? value
        : Math.round((double) value * wanted / covered);
  }

  /** Adds up the counts of rules. */
  static Map<String, Object> rules(List<Map<String, @Nullable Object>> documents) {
    Map<String, Object> all = Documents.copy(documents.get(0));
    Map<String, Map<String, Object>> rules = new LinkedHashMap<>();
    long millis = 0;
    for (Map<String, @Nullable Object> document : documents) {
      millis = Math.max(millis, Documents.count(document.get("millis")));
      for (Map<String, @Nullable Object> rule : Documents.objects(document.get("rules"))) {
        rules.merge(
            Documents.text(rule.get("rule")), Documents.copy(rule), (sum, more) -> sum(sum, more));
      }
    }
    List<Map<String, Object>> sorted = new ArrayList<>(rules.values());
    sorted.sort(
        Comparator.comparingLong((Map<String, Object> rule) -> -Documents.count(rule.get("over")))
            .thenComparingLong(rule -> -Documents.count(rule.get("asked"))));
    all.put("millis", millis);
    all.put("rules", sorted.subList(0, Math.min(sorted.size(), Series.MAX_RULES + 1)));
    return all;
  }

  private static Map<String, Object> sum(Map<String, Object> sum, Map<String, Object> more) {
    for (String name : Series.RULE) {
      sum.put(name, Documents.count(sum.get(name)) + Documents.count(more.get(name)));
    }
    Map<String, @Nullable Object> spark = Documents.object(sum.get("spark"));
    Map<String, @Nullable Object> other = Documents.object(more.get("spark"));
    if (!spark.isEmpty()) {
      for (String name : List.of("asked", "over")) {
        spark.put(name, added(Documents.list(spark.get(name)), Documents.list(other.get(name))));
      }
      sum.put("spark", spark);
    }
    return sum;
  }

  private static List<@Nullable Long> added(
      List<@Nullable Object> one, List<@Nullable Object> other) {
    List<@Nullable Long> sums = new ArrayList<>(one.size());
    for (int i = 0; i < one.size(); i++) {
      Long a = Documents.number(one.get(i));
      Long b = i < other.size() ? Documents.number(other.get(i)) : null;
      sums.add(a == null ? b : b == null ? a : Long.valueOf(a + b));
    }
    return sums;
  }
}
