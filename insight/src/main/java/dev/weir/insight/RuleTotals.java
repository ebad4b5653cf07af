package dev.weir.insight;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The totals of each rule in a span, and their course over time. For one thread. */
public final class RuleTotals {
  private static final int ASKED = Series.RULE.indexOf("asked");
  private static final int OVER = Series.RULE.indexOf("over");

  /**
   * The totals of one rule.
   *
   * @param rule the path of the rule, or {@link Series#OTHER}
   * @param counts the values of {@link Series#RULE}
   * @param asked the permits requested in each step, null if nothing is known
   * @param over the permits beyond the limit in each step, null if nothing is known
   */
  public record Total(
      String rule, List<Long> counts, List<@Nullable Long> asked, List<@Nullable Long> over) {}

  private static final class Sums {
    private final long[] counts = new long[Series.RULE.size()];
    private final long[] asked;
    private final long[] over;

    Sums(int points) {
      asked = new long[points];
      over = new long[points];
    }
  }

  private final long from;
  private final long step;
  private final long[] millis;
  private final Map<String, Sums> sums = new HashMap<>();

  RuleTotals(long from, long to, long step) {
    this.from = from;
    this.step = step;
    millis =
        new long[(int) Math.min(Columns.MAX_POINTS, Math.max(0, (to - from + step - 1) / step))];
  }

  void add(Row row) {
    long point = Math.floorDiv(row.time() - from, step);
    if (point < 0 || point >= millis.length) {
      return;
    }
    millis[(int) point] += row.millis();
    for (int i = 0; i < row.rules().size(); i++) {
      add(row.rules().get(i), row.at(i), (int) point);
    }
    long[] other = row.other();
    if (other != null) {
      add(Series.OTHER, other, (int) point);
    }
  }

  private void add(String rule, long[] counts, int point) {
    Sums of = sums.computeIfAbsent(rule, path -> new Sums(millis.length));
    Span.add(of.counts, counts);
    of.asked[point] += counts[ASKED];
    of.over[point] += counts[OVER];
  }

  /** Returns the time that is covered, in milliseconds. */
  public long millis() {
    long sum = 0;
    for (long each : millis) {
      sum += each;
    }
    return sum;
  }

  /** Returns the rules with requests, those with the most beyond their limit first. */
  public List<Total> totals() {
    List<Total> totals = new ArrayList<>();
    sums.forEach(
        (rule, of) -> {
          List<Long> counts = new ArrayList<>();
          for (long count : of.counts) {
            counts.add(count);
          }
          totals.add(new Total(rule, List.copyOf(counts), known(of.asked), known(of.over)));
        });
    totals.sort(
        Comparator.comparingLong((Total each) -> -each.counts().get(OVER))
            .thenComparingLong(each -> -each.counts().get(ASKED))
            .thenComparing(Total::rule));
    return totals;
  }

  private List<@Nullable Long> known(long[] values) {
    List<@Nullable Long> list = new ArrayList<>(values.length);
    for (int i = 0; i < values.length; i++) {
      list.add(millis[i] == 0 ? null : values[i]);
    }
    return list;
  }
}
