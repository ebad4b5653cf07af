package dev.weir;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The names of a store whose tables are to share directories, by groups. Used under the store's
 * lock, and while it takes no image.
 */
final class ColocatedNames {
  /**
   * The most keys that are moved while requests wait: some hundredths of a second. Counts that were
   * read are moved whatever their number, until the first sweep.
   */
  private static final long MOST_MOVED = 1L << 16;

  private static final long ALL_KEYS = Integer.MAX_VALUE;

  private final Set<List<String>> groups = new LinkedHashSet<>();

  /** The names whose counts were read, until the first sweep. */
  private final Set<String> restored = new HashSet<>();

  void add(List<String> group) {
    groups.add(group);
  }

  /** Takes over the groups of a store that this one was read for. */
  void addAll(ColocatedNames others) {
    groups.addAll(others.groups);
  }

  /** Records that a name's counts were read. */
  void restored(String name) {
    restored.add(name);
  }

  /** Moves the tables of all groups that are apart, as far as that can be done now. */
  void move(Map<String, PolicyHistory> histories, Budget whole, Calendar calendar) {
    groups.forEach(group -> move(group, histories, whole, calendar));
  }

  /** Moves the tables of a group together, if they are apart and that can be done now. */
  void move(
      List<String> group, Map<String, PolicyHistory> histories, Budget whole, Calendar calendar) {
    List<PolicyHistory> found = new ArrayList<>();
    for (String name : group) {
      PolicyHistory history = histories.get(name);
      if (history == null) {
        return;
      }
      found.add(history);
    }
    TableMove.run(found, whole, calendar, restored.containsAll(group) ? ALL_KEYS : MOST_MOVED);
  }

  /** Forgets groups of which a name is gone, and that counts have just been read. */
  void sweep(Set<String> names) {
    restored.clear();
    groups.removeIf(group -> !names.containsAll(group));
  }
}
