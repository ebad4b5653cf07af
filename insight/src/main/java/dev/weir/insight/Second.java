package dev.weir.insight;

import java.util.ArrayList;
import java.util.List;

/** The counts of one second. Immutable. */
public final class Second {
  private final Row row;

  Second(Row row) {
    this.row = row;
  }

  /** Returns the beginning of the second, in seconds since 1970. */
  public long time() {
    return row.time();
  }

  /** Returns the time that the counts cover, in milliseconds. */
  public long millis() {
    return row.millis();
  }

  /** Returns the value of a series of {@link Series#GLOBAL}, or {@link Series#UNKNOWN}. */
  public long global(int series) {
    return row.global()[series];
  }

  /** Returns the paths of the rules with requests. */
  public List<String> rules() {
    return List.copyOf(row.rules());
  }

  /** Returns the values of {@link Series#RULE} for the rule at a place of {@link #rules}. */
  public List<Long> counts(int place) {
    return list(row.at(place));
  }

  /** Returns the values of all rules without their own values. */
  public List<Long> other() {
    long[] other = row.other();
    return list(other == null ? new long[Series.RULE.size()] : other);
  }

  private static List<Long> list(long[] values) {
    List<Long> list = new ArrayList<>(values.length);
    for (long value : values) {
      list.add(value);
    }
    return list;
  }
}
