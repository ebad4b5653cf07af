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
    final int[] places;

    Group(String part, int[] places) {
      this.part = part;
      this.places = places;
    }
  }

  /** The groups by the hash of their parts, in an open-addressed table. */
  private final @Nullable Group[] table;

  /**
   * The hash of the group in each slot of the table, 0 in an empty one. Most searches end here, so
   * they read no group.
   */
  private final int[] hashes;

  /** The lengths that parts have, in ascending order, without repetition. */
  final int[] lengths;

  PartTable(Map<String, List<Integer>> places) {
    table = new @Nullable Group[Integer.highestOneBit(Math.max(1, places.size())) << 2];
    hashes = new int[table.length];
    TreeSet<Integer> found = new TreeSet<>();
    places.forEach(
        (part, list) -> {
          found.add(part.length());
          int hash = mixed(part.hashCode(), part.length());
          int slot = hash & table.length - 1;
          while (hashes[slot] != 0) {
            slot = slot + 1 & table.length - 1;
          }
          hashes[slot] = hash;
          table[slot] = new Group(part, list.stream().mapToInt(Integer::intValue).toArray());
        });
    lengths = found.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns a hash that is not 0. */
  private static int mixed(int hash, int length) {
    int mixed = (hash + length) * 0x9e3779b9;
    mixed ^= mixed >>> 16;
    return mixed == 0 ? 1 : mixed;
  }

  /**
   * Returns the group whose part stands in the text at that place, or null.
   *
   * @param hash that of these characters, as {@link String#hashCode} makes it
   */
  @Nullable Group find(int hash, String text, int from, int length, MatchBudget budget) {
    int wanted = mixed(hash, length);
    int slot = wanted & table.length - 1;
    int probes = 0;
    while (hashes[slot] != 0) {
      Group group = hashes[slot] == wanted ? table[slot] : null;
      if (group != null && isAt(group, text, from, length, budget)) {
        return group;
      }
      probes++;
      slot = slot + 1 & table.length - 1;
    }
    budget.walked(probes);
    return null;
  }

  private static boolean isAt(Group group, String text, int from, int length, MatchBudget budget) {
    budget.compared(length);
    return group.part.length() == length && text.startsWith(group.part, from);
  }
}
