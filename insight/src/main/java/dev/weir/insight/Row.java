package dev.weir.insight;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was counted in a span of time. Immutable: nobody changes the arrays. */
final class Row {
  private static final long[] NONE = new long[Series.RULE.size()];

  private final long time;
  private final long millis;
  private final long[] global;
  private final List<String> rules;
  private final long[] counts;
  private final long @Nullable [] other;

  /**
   * @param time where the span begins, in seconds since 1970
   * @param millis how much time the counts cover, which may be less than the span and, where the
   *     reader was late, more
   * @param global the values of {@link Series#GLOBAL}
   * @param rules paths of the rules that were asked, in their order, at most {@link
   *     Series#MAX_RULES}
   * @param counts the values of {@link Series#RULE} for each of them, one after the other
   * @param other what further rules have together; null if there were none
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

  /** Returns the place of a rule, or -1. */
  int place(String rule) {
    for (int i = 0; i < rules.size(); i++) {
      if (rules.get(i).equals(rule)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the values of a rule, or null if they are not known: they are in those of others. */
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
