package dev.weir.insight;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Series as columns, with an element for each step of a span. For one thread. */
public final class Columns {
  /** The most points of a column: more than any page can show. */
  public static final int MAX_POINTS = 2_160;

  private final @Nullable String rule;
  private final long from;
  private final long step;
  private final long[] millis;
  private final long[][] values;

  Columns(@Nullable String rule, long from, long to, long step) {
    this.rule = rule;
    this.from = from;
    this.step = step;
    int points = (int) Math.min(MAX_POINTS, Math.max(0, (to - from + step - 1) / step));
    millis = new long[points];
    values = new long[names().size()][points];
    for (long[] column : values) {
      Arrays.fill(column, Series.UNKNOWN);
    }
  }

  void add(Row row) {
    long point = Math.floorDiv(row.time() - from, step);
    String only = rule;
    long[] add = only == null ? row.global() : row.of(only);
    if (point < 0 || point >= millis.length || add == null) {
      return;
    }
    int at = (int) point;
    millis[at] += row.millis();
    for (int i = 0; i < add.length; i++) {
      long[] column = values[i];
      boolean counter = only != null || i < Series.COUNTERS;
      column[at] =
          column[at] == Series.UNKNOWN
              ? add[i]
              : counter ? column[at] + add[i] : Math.max(column[at], add[i]);
    }
  }

  /** Returns the names of the columns, besides the time and the time that they cover. */
  public List<String> names() {
    return rule == null ? Series.GLOBAL : Series.RULE;
  }

  /** Returns the number of steps. */
  public int points() {
    return millis.length;
  }

  /** Returns the beginning of a step, in seconds since 1970. */
  public long time(int point) {
    return from + point * step;
  }

  /** Returns the time that a step's values cover, in milliseconds; 0 if nothing is known of it. */
  public long millis(int point) {
    return millis[point];
  }

  /** Returns a value, or null if it is not known. */
  public @Nullable Long value(int series, int point) {
    long value = values[series][point];
    return value == Series.UNKNOWN ? null : value;
  }

  /** Returns a whole column. */
  public List<@Nullable Long> column(int series) {
    List<@Nullable Long> column = new ArrayList<>(millis.length);
    for (int i = 0; i < millis.length; i++) {
      column.add(value(series, i));
    }
    return column;
  }
}
