package dev.weir.rules.internal.parse;

import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rules whose values are patterns, as an index that finds the first one that matches a value.
 * Immutable.
 */
final class Patterns {
  /*
   * Why an index? A level may have thousands of patterns such as /tenants/4711/*, and one call may
   * have thousands of values. So patterns are grouped by the text before their first star, and a
   * value is compared only with those whose text it begins with. All of these texts are found by
   * one pass over the value: a hash of its first n characters is made of that of n - 1, and looked
   * up if a group has a text of that length. Patterns that begin with a star are one group, which
   * is compared with every value.
   */

  /** The patterns that have the same text before their first star, by their places. */
  private static final class Group {
    final String head;
    final int[] places;

    Group(String head, int[] places) {
      this.head = head;
      this.places = places;
    }
  }

  private final Rule[] rules;

  /** The groups by the hash of their heads, in an open-addressed table. */
  private final @Nullable Group[] table;

  /** True at the lengths that heads have. */
  private final boolean[] lengths;

  /**
   * Creates an index.
   *
   * @param rules in file order; their values have a star
   */
  Patterns(List<Rule> rules) {
    this.rules = rules.toArray(Rule[]::new);
    Map<String, List<Integer>> byHead = new LinkedHashMap<>();
    int longest = -1;
    for (int i = 0; i < this.rules.length; i++) {
      String value = this.rules[i].value();
      String head = value.substring(0, value.indexOf('*'));
      byHead.computeIfAbsent(head, key -> new ArrayList<>()).add(i);
      longest = Math.max(longest, head.length());
    }
    lengths = new boolean[longest + 1];
    table = new @Nullable Group[Integer.highestOneBit(Math.max(1, byHead.size())) << 2];
    byHead.forEach(
        (head, places) -> {
          lengths[head.length()] = true;
          int slot = slot(head.hashCode(), head.length());
          while (table[slot] != null) {
            slot = slot + 1 & table.length - 1;
          }
          table[slot] = new Group(head, places.stream().mapToInt(Integer::intValue).toArray());
        });
  }

  private int slot(int hash, int length) {
    int mixed = (hash + length) * 0x9e3779b9;
    return (mixed ^ mixed >>> 16) & table.length - 1;
  }

  /** Returns the first rule whose pattern matches a value, or null. Allocates nothing. */
  @Nullable Rule find(String value) {
    int first = rules.length;
    int hash = 0; // That of String.hashCode, of the characters up to the length.
    for (int length = 0; length < lengths.length && length <= value.length(); length++) {
      hash = length == 0 ? 0 : 31 * hash + value.charAt(length - 1);
      Group group = lengths[length] ? group(hash, length, value) : null;
      if (group != null) {
        first = first(group, value, first);
      }
    }
    return first < rules.length ? rules[first] : null;
  }

  private @Nullable Group group(int hash, int length, String value) {
    int slot = slot(hash, length);
    for (Group group = table[slot]; group != null; group = table[slot]) {
      if (group.head.length() == length && value.startsWith(group.head)) {
        return group;
      }
      slot = slot + 1 & table.length - 1;
    }
    return null;
  }

  private int first(Group group, String value, int before) {
    for (int place : group.places) {
      if (place >= before) {
        break;
      }
      if (Wildcard.matches(rules[place].value(), value)) {
        return place;
      }
    }
    return before;
  }
}
