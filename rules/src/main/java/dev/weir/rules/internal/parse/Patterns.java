package dev.weir.rules.internal.parse;

import dev.weir.rules.MatchBudget;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules whose values are patterns, as an index that finds the first one that matches a value.
 * Immutable.
 */
final class Patterns {
  /*
   * Why an index? A level may have thousands of patterns, and one call may have thousands of values,
   * and their product is too much for an event loop. So each pattern is found by one of its literal parts, the
   * texts between its stars, and is compared only with values that have this part: as their head or
   * tail, if the pattern begins or ends with it, else anywhere.
   *
   * Which part? One that few other patterns have: /api/ tells nothing if all patterns begin with
   * it. Of these a head or a tail is better than a middle part, and a long part better than a short
   * one.
   *
   * How are parts found? By hashes of the value's characters. That of its first n characters is
   * made of that of n - 1, and likewise from the end, so all heads need one pass, and all tails one.
   * Middle parts need one pass for each length that they have: a hash of n characters moves on by
   * one when a character enters and another leaves. A part that is found again further on is
   * skipped.
   *
   * Patterns without a literal part are compared with every value, and so are all of a level that
   * has only a few.
   */

  /** The most patterns that are compared without an index. */
  private static final int FEW = 4;

  /** The factor of {@link String#hashCode}. */
  private static final int FACTOR = 31;

  private enum Kind {
    HEAD,
    TAIL,
    MIDDLE
  }

  private record Part(Kind kind, String text) {}

  private final Rule[] rules;

  /** The places of patterns that are compared with every value. */
  private final int[] always;

  private final PartTable heads;
  private final PartTable tails;
  private final PartTable middles;

  /** The factor of the character that leaves, for each length of middle parts. */
  private final int[] leaving;

  /**
   * Creates an index.
   *
   * @param rules in file order; their values have a star
   */
  Patterns(List<Rule> rules) {
    this.rules = rules.toArray(Rule[]::new);
    List<List<Part>> parts = rules.stream().map(rule -> parts(rule.value())).toList();
    Map<Part, Integer> sharers = new HashMap<>();
    parts.forEach(list -> list.forEach(part -> sharers.merge(part, 1, Integer::sum)));
    Comparator<Part> best =
        Comparator.<Part>comparingInt(part -> Math.max(FEW, sharers.getOrDefault(part, 0)))
            .thenComparing(part -> part.kind == Kind.MIDDLE)
            .thenComparingInt(part -> -part.text.length());
    Map<Kind, Map<String, List<Integer>>> places = new HashMap<>();
    List<Integer> rest = new ArrayList<>();
    for (int i = 0; i < this.rules.length; i++) {
      Part chosen = this.rules.length <= FEW ? null : parts.get(i).stream().min(best).orElse(null);
      if (chosen == null) {
        rest.add(i);
      } else {
        places
            .computeIfAbsent(chosen.kind, kind -> new HashMap<>())
            .computeIfAbsent(chosen.text, text -> new ArrayList<>())
            .add(i);
      }
    }
    always = rest.stream().mapToInt(Integer::intValue).toArray();
    heads = new PartTable(places.getOrDefault(Kind.HEAD, Map.of()));
    tails = new PartTable(places.getOrDefault(Kind.TAIL, Map.of()));
    middles = new PartTable(places.getOrDefault(Kind.MIDDLE, Map.of()));
    leaving = new int[middles.lengths.length];
    for (int i = 0; i < leaving.length; i++) {
      leaving[i] = power(middles.lengths[i] - 1);
    }
  }

  /** Returns the literal parts of a pattern. */
  private static List<Part> parts(String pattern) {
    List<Part> parts = new ArrayList<>();
    int from = 0;
    for (int star = pattern.indexOf('*'); star >= 0; star = pattern.indexOf('*', from)) {
      add(parts, from == 0 ? Kind.HEAD : Kind.MIDDLE, pattern.substring(from, star));
      from = star + 1;
    }
    add(parts, Kind.TAIL, pattern.substring(from));
    return parts;
  }

  private static void add(List<Part> parts, Kind kind, String text) {
    Part part = new Part(kind, text);
    if (!text.isEmpty() && !parts.contains(part)) {
      parts.add(part);
    }
  }

  private static int power(int exponent) {
    int power = 1;
    for (int i = 0; i < exponent; i++) {
      power *= FACTOR;
    }
    return power;
  }

  /**
   * Returns the first rule whose pattern matches a value, or null, also if the thread's {@link
   * MatchBudget} is spent. Allocates nothing.
   */
  @Nullable Rule find(String value) {
    MatchBudget budget = MatchBudget.ofThread();
    if (budget.isSpent()) {
      return null;
    }
    int first = first(always, value, rules.length, budget);
    first = byHead(value, first, budget);
    first = byTail(value, first, budget);
    first = byMiddle(value, first, budget);
    return first < rules.length && !budget.isSpent() ? rules[first] : null;
  }

  private int byHead(String value, int before, MatchBudget budget) {
    int first = before;
    int hash = 0;
    int length = 0;
    for (int wanted : heads.lengths) {
      if (wanted > value.length()) {
        break;
      }
      while (length < wanted) {
        hash = FACTOR * hash + value.charAt(length++);
      }
      first = first(heads.find(hash, value, 0, length, budget), value, first, budget);
    }
    budget.walked(length);
    return first;
  }

  private int byTail(String value, int before, MatchBudget budget) {
    int first = before;
    int hash = 0;
    int factor = 1; // That of the character before the tail.
    int length = 0;
    for (int wanted : tails.lengths) {
      if (wanted > value.length()) {
        break;
      }
      while (length < wanted) {
        hash += factor * value.charAt(value.length() - ++length);
        factor *= FACTOR;
      }
      int from = value.length() - length;
      first = first(tails.find(hash, value, from, length, budget), value, first, budget);
    }
    budget.walked(length);
    return first;
  }

  private int byMiddle(String value, int before, MatchBudget budget) {
    int first = before;
    for (int i = 0; i < leaving.length && middles.lengths[i] <= value.length(); i++) {
      int length = middles.lengths[i];
      int hash = 0;
      for (int end = 1; end <= value.length() && !budget.isSpent(); end++) {
        int from = end - length;
        hash -= from > 0 ? leaving[i] * value.charAt(from - 1) : 0;
        hash = FACTOR * hash + value.charAt(end - 1);
        if (from >= 0) {
          PartTable.Group group = middles.find(hash, value, from, length, budget);
          if (group != null && isFirst(group, value, from, first, budget)) {
            first = first(group, value, first, budget);
          }
        }
      }
      budget.walked(value.length());
    }
    return first;
  }

  /** Returns whether a group has to be compared: it is not void, and its part is found newly. */
  private static boolean isFirst(
      PartTable.Group group, String value, int from, int before, MatchBudget budget) {
    if (group.places[0] >= before) {
      return false;
    }
    int earliest = value.indexOf(group.part);
    budget.walked(earliest);
    return earliest == from;
  }

  private int first(PartTable.@Nullable Group group, String value, int before, MatchBudget budget) {
    return group == null ? before : first(group.places, value, before, budget);
  }

  private int first(int[] places, String value, int before, MatchBudget budget) {
    for (int place : places) {
      if (place >= before || budget.isSpent()) {
        break;
      }
      if (Wildcard.matches(rules[place].value(), value, budget)) {
        return place;
      }
    }
    return before;
  }
}
