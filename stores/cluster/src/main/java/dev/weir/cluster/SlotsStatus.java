package dev.weir.cluster;

import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.map.Rebalancer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Where the slots of a cluster are: each is a 4,096th of the keys. Immutable.
 *
 * @param slots how many slots each group has, by the group's number
 * @param toMove how many of them another group is to have
 * @param moves those that are on their way
 */
public record SlotsStatus(List<Integer> slots, int toMove, List<MoveStatus> moves) {
  /**
   * A slot that is on its way.
   *
   * @param step what is done next: {@code moving}, {@code dropping} what was moved, or {@code
   *     thawing} what was not
   */
  public record MoveStatus(int slot, int from, int to, String step) {}

  public SlotsStatus {
    slots = List.copyOf(slots);
    moves = List.copyOf(moves);
  }

  /** Returns what is to move, a line for each group that gives slots to another one. */
  public static List<String> misplaced(ClusterMap map) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Rebalancer.Misplaced each : Rebalancer.misplaced(map, new Placement(map.groups()))) {
      counts.merge("group " + each.from() + " -> group " + each.to(), 1, Integer::sum);
    }
    List<String> lines = new ArrayList<>();
    counts.forEach((groups, slots) -> lines.add(groups + ": " + slots + " slots"));
    return lines;
  }

  /** Returns how many slots a group has. */
  public int of(int group) {
    return group < slots.size() ? slots.get(group) : 0;
  }

  /** Returns where slots are before there is a cluster. */
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
                    new MoveStatus(
                        each.slot(),
                        each.from(),
                        each.to(),
                        each.step().name().toLowerCase(Locale.ROOT)))
            .toList());
  }
}
