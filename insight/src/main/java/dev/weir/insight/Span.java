package dev.weir.insight;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A maker of rows of one width from readings. For one thread. */
final class Span {
  /*
   * A row is the difference of two readings, the one at which its span began and the one at which
   * the next span has begun. So everything counted between two readings is in exactly one row, even
   * if a reading comes late: the row then covers more time, and the spans without a reading have no
   * row. The first reading of a process only begins a span: counts from before it may not be from
   * this span.
   *
   * If more rules have requests than can have their own series, the rules of the row before count
   * double in the choice, so that two rules with about as many requests do not take turns.
   */
  private final long seconds;
  private @Nullable Reading begin;
  private long[] largest = new long[Series.GLOBAL.size()];
  private Set<String> before = Set.of();

  Span(long seconds) {
    this.seconds = seconds;
  }

  /** Adds a reading, and returns the row that it ends, or null if the span goes on. */
  @Nullable Row take(Reading reading) {
    Reading from = begin;
    if (from == null) {
      start(reading);
      return null;
    }
    raise(reading);
    if (start(from.time()) == start(reading.time())) {
      return null;
    }
    return end(from, reading);
  }

  /** Ends the span at a reading, at any time in it; returns null if no time has passed. */
  @Nullable Row finish(Reading reading) {
    Reading from = begin;
    if (from == null || reading.atNanos() <= from.atNanos()) {
      return null;
    }
    raise(reading);
    return end(from, reading);
  }

  private Row end(Reading from, Reading reading) {
    Row row = row(from, reading);
    start(reading);
    return row;
  }

  private long start(long nanos) {
    long second = Math.floorDiv(nanos, 1_000_000_000L);
    return second - Math.floorMod(second, seconds);
  }

  private void start(Reading reading) {
    begin = reading;
    largest = new long[Series.GLOBAL.size()];
  }

  private void raise(Reading reading) {
    for (int i = Series.COUNTERS; i < largest.length; i++) {
      largest[i] = Math.max(largest[i], reading.global()[i]);
    }
  }

  private Row row(Reading from, Reading to) {
    long[] global = largest.clone();
    for (int i = 0; i < Series.COUNTERS; i++) {
      global[i] = Reading.growth(from.global()[i], to.global()[i]);
    }
    global[Series.P50] = to.quantile(from, 500);
    global[Series.P99] = to.quantile(from, 990);
    List<SpanCounts> counted = new ArrayList<>();
    for (Map.Entry<String, long[]> rule : to.rules().entrySet()) {
      long[] grown = grown(from.rules().get(rule.getKey()), rule.getValue());
      if (grown != null) {
        counted.add(new SpanCounts(rule.getKey(), grown));
      }
    }
    long[] other = null;
    if (counted.size() > Series.MAX_RULES) {
      other = new long[Series.RULE.size()];
      counted.sort(
          Comparator.comparingLong(this::weight).reversed().thenComparing(each -> each.rule));
      for (SpanCounts each : counted.subList(Series.MAX_RULES, counted.size())) {
        add(other, each.counts);
      }
      counted = new ArrayList<>(counted.subList(0, Series.MAX_RULES));
    }
    counted.sort(Comparator.comparing(each -> each.rule));
    long millis = Math.max(1, (to.atNanos() - from.atNanos() + 500_000L) / 1_000_000L);
    return row(start(from.time()), millis, global, counted, other);
  }

  private Row row(
      long time, long millis, long[] global, List<SpanCounts> counted, long @Nullable [] other) {
    int size = Series.RULE.size();
    long[] counts = new long[counted.size() * size];
    List<String> rules = new ArrayList<>(counted.size());
    for (int i = 0; i < counted.size(); i++) {
      rules.add(counted.get(i).rule);
      System.arraycopy(counted.get(i).counts, 0, counts, i * size, size);
    }
    before = other == null ? Set.of() : new HashSet<>(rules);
    return new Row(time, millis, global, rules, counts, other);
  }

  private static final class SpanCounts {
    private final String rule;
    private final long[] counts;

    SpanCounts(String rule, long[] counts) {
      this.rule = rule;
      this.counts = counts;
    }
  }

  private long weight(SpanCounts each) {
    return before.contains(each.rule) ? 2 * each.counts[0] : each.counts[0];
  }

  static void add(long[] to, long[] values) {
    for (int i = 0; i < to.length; i++) {
      to[i] += values[i];
    }
  }

  /** Returns the growth of a rule's counters, or null if it had no requests. */
  private static long @Nullable [] grown(long @Nullable [] earlier, long[] now) {
    long[] grown = new long[now.length];
    long any = 0;
    for (int i = 0; i < now.length; i++) {
      grown[i] = Reading.growth(earlier == null ? 0 : earlier[i], now[i]);
      any |= grown[i];
    }
    return any == 0 ? null : grown;
  }
}
