package dev.weir.rules.internal.parse;

import dev.weir.rules.MatchBudget;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of the literal parts of patterns of one kind, with the places of the patterns that
 * are found by each. Immutable.
 */
final class PartTable {
  /** The patterns with the same part, by their places in ascending order. */
  static final class Group {
    final String part;
    final int hash;
    final int[] places;

    Group(String part, int[] places) {
      this.part = part;
      hash = part.hashCode();
      this.places = places;
    }
  }

  /** The groups by the hash of their parts, in an open-addressed table. */
  private final @Nullable Group[] table;

  /** The lengths that parts have, in ascending order, without repetition. */
  final int[] lengths;

  PartTable(Map<String, List<Integer>> places) {
    table = new @Nullable Group[Integer.highestOneBit(Math.max(1, places.size())) << 2];
    TreeSet<Integer> found = new TreeSet<>();
    places.forEach(
        (part, list) -> {
          found.add(part.length());
          int slot = slot(part.hashCode(), part.length());
          while (table[slot] != null) {
            slot = slot + 1 & table.length - 1;
          }
          table[slot] = new Group(part, list.stream().mapToInt(Integer::intValue).toArray());
        });
    lengths = found.stream().mapToInt(Integer::intValue).toArray();
  }

  private int slot(int hash, int length) {
    int mixed = (hash + length) * 0x9e3779b9;
    return (mixed ^ mixed >>> 16) & table.length - 1;
  }

  /**
   * Returns the group whose part stands in the text at that place, or null.
   *
   * @param hash that of these characters, as {@link String#hashCode} makes it
   */
  @Nullable Group find(int hash, String text, int from, int length, MatchBudget budget) {
    int slot = slot(hash, length);
    int probes = 0;
    Group group = table[slot];
    while (group != null && !isAt(group, hash, text, from, length, budget)) {
      probes++;
      slot = slot + 1 & table.length - 1;
      group = table[slot];
    }
    budget.walked(probes);
    return group;
  }

  private static boolean isAt(
      Group group, int hash, String text, int from, int length, MatchBudget budget) {
    if (group.hash != hash || group.part.length() != length) {
      return false;
    }
    budget.compared(length);
    return text.startsWith(group.part, from);
  }
}
