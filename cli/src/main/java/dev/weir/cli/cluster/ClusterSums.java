package dev.weir.cli.cluster;

import dev.weir.cli.cluster.ClusterView.Member;
import dev.weir.cli.cluster.ClusterView.Replica;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The sums of replicas at places in their logs, collected from several answers, since members reach
 * a place at different moments. Not safe for use by several threads.
 */
final class ClusterSums {
  /** The sums of one group, by the index in its log, then by member. */
  private static final class Group {
    final TreeMap<Long, Map<String, String>> sums = new TreeMap<>();
    final TreeSet<String> diverged = new TreeSet<>();
    List<String> holders = List.of();

    /**
     * Returns the latest index for which all holders of the group have a sum, 0 if there is none.
     */
    long common() {
      for (Map.Entry<Long, Map<String, String>> each : sums.descendingMap().entrySet()) {
        if (!holders.isEmpty() && each.getValue().keySet().containsAll(holders)) {
          return each.getKey();
        }
      }
      return 0;
    }

    /** Returns the latest index at which two members differ, 0 if there is none. */
    long differing() {
      for (Map.Entry<Long, Map<String, String>> each : sums.descendingMap().entrySet()) {
        if (each.getValue().values().stream().distinct().count() > 1) {
          return each.getKey();
        }
      }
      return 0;
    }

    boolean differs() {
      return !diverged.isEmpty() || differing() > 0;
    }
  }

  private final Map<Integer, Group> groups = new HashMap<>();
  private List<String> down = List.of();

  /** Adds the sums of an answer. */
  void add(ClusterView view) {
    down = view.members().stream().filter(each -> !each.up()).map(Member::name).toList();
    for (int number = 0; number < view.groups(); number++) {
      Group group = groups.computeIfAbsent(number, each -> new Group());
      group.holders = view.replicas(number).stream().map(Replica::member).toList();
      for (Replica each : view.replicas(number)) {
        if (each.diverged()) {
          group.diverged.add(each.member());
        }
        if (each.comparedAt() > 0) {
          group
              .sums
              .computeIfAbsent(each.comparedAt(), index -> new TreeMap<>())
              .put(each.member(), each.sum());
        }
      }
    }
  }

  /** Returns whether each group could be compared among the members that are up and have it. */
  boolean complete() {
    return !groups.isEmpty()
        && groups.values().stream().allMatch(each -> each.differs() || each.common() > 0);
  }

  /** Returns whether all replicas of all members were compared, and none differs. */
  boolean same() {
    return complete() && down.isEmpty() && groups.values().stream().noneMatch(Group::differs);
  }

  /** Returns the results: a line for each group, and for each member that is down. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    new TreeMap<>(groups)
        .forEach((number, group) -> lines.add("group " + number + ": " + line(group)));
    down.forEach(each -> lines.add(each + " is down: its replicas were not compared"));
    return lines;
  }

  private String line(Group group) {
    long differing = group.differing();
    if (differing > 0) {
      List<String> each = new ArrayList<>();
      group
          .sums
          .getOrDefault(differing, Map.of())
          .forEach((name, sum) -> each.add(name + " " + sum));
      return "the sums differ at index " + differing + ": " + String.join(", ", each);
    }
    if (!group.diverged.isEmpty()) {
      return String.join(", ", group.diverged) + " differs from its leader, as it says itself";
    }
    long common = group.common();
    return common > 0
        ? "the same at " + String.join(", ", group.holders) + ", at index " + common
        : "not compared: no index at which all of "
            + String.join(", ", group.holders)
            + " were seen";
  }
}
