package dev.weir.insight;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The counts of a span of time. Immutable: the arrays are never changed. */
final class Row {
  private static final long[] NONE = new long[Series.RULE.size()];

  private final long time;
  private final long millis;
  private final long[] global;
  private final List<String> rules;
  private final long[] counts;
  private final long @Nullable [] other;

  /**
   * @param time the beginning of the span, in seconds since 1970
   * @param millis the time that the counts cover, in milliseconds: it may be less than the span or,
   *     if the reader was late, more
   * @param global the values of {@link Series#GLOBAL}
   * @param rules the paths of the rules with requests, in their order, at most {@link
   *     Series#MAX_RULES}
   * @param counts the values of {@link Series#RULE} for each of them, one after the other
   * @param other the values of all further rules together; null if there were none
   */
  Row(
      long time,
      long millis,
      long[] global,
      List<String> rules,
      long[] counts,
      long @Nullable [] other) {
    this.time = time;
    this.millis = millis;
    this.global = global;
    this.rules = rules;
    this.counts = counts;
    this.other = other;
  }

  long time() {
    return time;
  }

  long millis() {
    return millis;
  }

  long[] global() {
    return global;
  }

  List<String> rules() {
    return rules;
  }

  int numbers() {
    return global.length + counts.length;
  }

  long @Nullable [] other() {
    return other;
  }

  /** Returns the place of a rule, or -1 if it has none. */
  int place(String rule) {
    for (int i = 0; i < rules.size(); i++) {
      if (rules.get(i).equals(rule)) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Returns the values of a rule, or null if they are not known: they are among those of other
   * rules.
   */
  long @Nullable [] of(String rule) {
    if (rule.equals(Series.OTHER)) {
      return other == null ? NONE : other;
    }
    int place = place(rule);
    return place >= 0 ? at(place) : other == null ? NONE : null;
  }

  long[] at(int place) {
    int size = Series.RULE.size();
    return Arrays.copyOfRange(counts, place * size, (place + 1) * size);
  }
}
