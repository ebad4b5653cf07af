package dev.weir.cluster.internal.map;

import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The changes of a map when members come and go. Pure functions. */
public final class Roster {
  /*
   * Which members have a group? Those whose names weigh most with its number (rendezvous hashing);
   * a member of a zone with fewer of its replicas precedes one of a zone with more. So a new member
   * takes some replicas from each of the others, a leaving one distributes its own among them, and
   * no other replica moves, except because of zones.
   */

  private Roster() {}

  /** Returns the members of each group, by the group's number. */
  public static List<List<String>> replicas(List<Member> members, int groups, int copies) {
    List<List<String>> all = new ArrayList<>();
    for (int group = 0; group < groups; group++) {
      all.add(chosen(members, group, copies));
    }
    return all;
  }

  private static List<String> chosen(List<Member> members, int group, int copies) {
    List<Member> rest = new ArrayList<>(members);
    rest.sort(
        Comparator.comparingLong((Member each) -> Placement.weight(each.name().hashCode(), group))
            .reversed()
            .thenComparing(Member::name));
    Map<String, Integer> inZone = new HashMap<>();
    List<String> chosen = new ArrayList<>();
    while (chosen.size() < copies && !rest.isEmpty()) {
      Member best = rest.get(0);
      for (Member each : rest) {
        if (inZone.getOrDefault(each.zone(), 0) < inZone.getOrDefault(best.zone(), 0)) {
          best = each;
        }
      }
      rest.remove(best);
      chosen.add(best.name());
      inZone.merge(best.zone(), 1, Integer::sum);
    }
    return chosen;
  }

  /**
   * Returns the map with a member: a new one, another incarnation of a name, or one with another
   * address or zone. Returns {@code map} itself if it has the member already.
   */
  public static ClusterMap joined(ClusterMap map, Member member) {
    if (member.equals(map.member(member.name()))) {
      return map;
    }
    List<Member> members = others(map, member.name());
    members.add(member);
    return of(map, members);
  }

  /**
   * Returns the map without a member; {@code map} itself if there is none of that name.
   *
   * @throws IllegalArgumentException if there is no other member
   */
  public static ClusterMap removed(ClusterMap map, String name) {
    List<Member> members = others(map, name);
    if (members.isEmpty()) {
      throw new IllegalArgumentException(name + " is the only member (expected: others)");
    }
    return members.size() == map.members().size() ? map : of(map, members);
  }

  /** Returns the map with replicas in their places; {@code map} itself if they are. */
  public static ClusterMap rebalanced(ClusterMap map) {
    ClusterMap next = of(map, map.members());
    return next.replicas().equals(map.replicas()) ? map : next;
  }

  /**
   * Returns the map with that many groups; {@code map} itself if it has them.
   *
   * @throws IllegalArgumentException if it has more, or the number is out of range, or some members
   *     must be upgraded to another version of Weir first
   */
  public static ClusterMap raised(ClusterMap map, int groups) {
    if (groups < map.groups() || groups > ClusterMap.MOST_GROUPS) {
      throw new IllegalArgumentException(
          "groups: "
              + groups
              + " (expected: "
              + map.groups()
              + ".."
              + ClusterMap.MOST_GROUPS
              + ", as many as there are or more)");
    }
    if (groups > map.groups() && map.level() < Levels.SLOT_MOVES) {
      throw new IllegalArgumentException(
          "groups: "
              + groups
              + " (expected: "
              + map.groups()
              + " while the cluster is at level "
              + map.level()
              + ", as weir cluster status says)");
    }
    List<List<String>> all = replicas(map.members(), groups, map.copies());
    return groups == map.groups() ? map : map.withMore(all.subList(map.groups(), groups));
  }

  private static ClusterMap of(ClusterMap map, List<Member> members) {
    return map.with(members, replicas(members, map.groups(), map.copies()));
  }

  private static List<Member> others(ClusterMap map, String name) {
    return new ArrayList<>(
        map.members().stream().filter(each -> !each.name().equals(name)).toList());
  }
}
