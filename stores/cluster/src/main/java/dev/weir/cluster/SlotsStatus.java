package dev.weir.cluster;

import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.map.Rebalancer;
import dev.weir.internal.Choice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The places of a cluster's slots, each of which is a 4,096th of the keys. Immutable.
 *
 * @param slots the number of slots of each group, by the group's number
 * @param toMove the number of slots that belong in another group
 * @param moves those that are moving
 */
public record SlotsStatus(List<Integer> slots, int toMove, List<MoveStatus> moves) {
  /**
   * A slot that is moving.
   *
   * @param step the next step: {@code moving}, {@code dropping} the moved keys, or {@code thawing}
   *     those that could not be moved
   */
  public record MoveStatus(int slot, int from, int to, String step) {}

  public SlotsStatus {
    slots = List.copyOf(slots);
    moves = List.copyOf(moves);
  }

  /** Returns the slots to be moved, a line for each group that gives slots to another one. */
  public static List<String> misplaced(ClusterMap map) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Rebalancer.MisplacedSlot each : Rebalancer.misplaced(map, new Placement(map.groups()))) {
      counts.merge("group " + each.from() + " -> group " + each.to(), 1, Integer::sum);
    }
    List<String> lines = new ArrayList<>();
    counts.forEach((groups, slots) -> lines.add(groups + ": " + slots + " slots"));
    return lines;
  }

  /** Returns the number of slots of a group. */
  public int of(int group) {
    return group < slots.size() ? slots.get(group) : 0;
  }

  /** Returns the places of slots before the cluster is formed. */
  public static SlotsStatus before(int groups) {
    Placement first = new Placement(groups);
    return new SlotsStatus(
        IntStream.range(0, groups).mapToObj(first::slots).toList(), 0, List.of());
  }

  public static SlotsStatus of(ClusterMap map) {
    int[] counts = new int[map.groups()];
    for (short each : map.slots()) {
      counts[each]++;
    }
    List<Integer> slots = new ArrayList<>();
    for (int each : counts) {
      slots.add(each);
    }
    return new SlotsStatus(
        slots,
        Rebalancer.misplaced(map, new Placement(map.groups())).size(),
        map.moves().stream()
            .map(
                each ->
                    new MoveStatus(each.slot(), each.from(), each.to(), Choice.name(each.step())))
            .toList());
  }
}
