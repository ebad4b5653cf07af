package dev.weir.cluster.sim;

import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.GroupSlots;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A cluster in virtual time: members, groups, and the servers that call them. All of Weir's code in
 * it is the real one; only the log, the machines and the network are not.
 */
final class SimCluster {
  static final Fingerprint FINGERPRINT = Fingerprint.seeded(3, 4);

  /** The largest error of a clock's rate, in parts per million. */
  static final int MOST_PPM = 200;

  private static final long TICK_NANOS = 100 * Policies.MILLI;

  final Scheduler scheduler;
  final Defect defect;
  final SimHistory history;
  final SimNet net;
  final SimImages images = new SimImages();
  final ClusterMap first;

  /** True if slots are moved back to their places. */
  final boolean rebalances;

  private ClusterMap newest;
  final List<SimMember> members = new ArrayList<>();
  final List<SimGroup> groups = new ArrayList<>();
  final List<SimServer> servers = new ArrayList<>();

  SimCluster(long seed, Defect defect) {
    scheduler = new Scheduler(seed);
    this.defect = defect;
    net = new SimNet(scheduler);
    int groupCount = scheduler.oneIn(4) ? 1 : scheduler.random.nextInt(2, 4);
    rebalances = scheduler.random.nextBoolean();
    int size = scheduler.oneIn(3) ? 5 : 3;
    String[] names = new String[size];
    for (int i = 0; i < size; i++) {
      names[i] = "member-" + i;
    }
    first = Maps.of(groupCount, names).at(Levels.SLOT_MOVES);
    newest = first;
    history = new SimHistory(first);
    for (int i = 0; i < size; i++) {
      SimNode node = new SimNode(names[i], scheduler, MOST_PPM);
      members.add(new SimMember(i, node, this));
    }
    for (int i = 0; i < groupCount; i++) {
      int number = i;
      groups.add(
          new SimGroup(
              number,
              net,
              defect,
              scheduler,
              history,
              member -> members.get(member).newMachine(groups.get(number))));
      members.forEach(each -> groups.get(number).add(each.node));
      groups.get(number).start();
      scheduler.after(TICK_NANOS, () -> tick(number));
    }
    for (int i = 0; i < 6; i++) {
      history.add(new SimRule(i, scheduler.random));
    }
    for (int i = 0; i < 3; i++) {
      servers.add(new SimServer(new SimNode("server-" + i, scheduler, MOST_PPM), this));
    }
  }

  /** Called when a member has applied a map. */
  void offer(ClusterMap map) {
    if (map.epoch() > newest.epoch()) {
      newest = map;
      history.count("maps", 1);
    }
  }

  ClusterMap map() {
    return newest;
  }

  /** Returns the slots of a group at the beginning. */
  GroupSlots first(int group) {
    return new GroupSlots(slot -> first.groupOfSlot(slot) == group);
  }

  /** Requests the map of a member, like {@link CurrentMap}. */
  CompletionStage<byte[]> askMap(SimNode from, String member, byte[] known) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    SimMember there = member(member);
    net.send(
        from,
        there.node,
        () -> {
          byte[] map = there.map().answer(known);
          net.send(there.node, from, () -> answer.complete(map));
        });
    from.run(
        Policies.SECOND, () -> answer.completeExceptionally(new IllegalStateException("late")));
    return answer;
  }

  private void tick(int group) {
    for (SimMember each : members) {
      if (each.node.runs()) {
        each.tick(group);
        if (group == 0) {
          each.move();
        }
      }
    }
    scheduler.after(TICK_NANOS, () -> tick(group));
  }

  SimMember member(String name) {
    for (SimMember each : members) {
      if (each.node.name.equals(name)) {
        return each;
      }
    }
    throw new IllegalArgumentException(name);
  }

  List<SimNode> nodes() {
    List<SimNode> nodes = new ArrayList<>();
    members.forEach(each -> nodes.add(each.node));
    servers.forEach(each -> nodes.add(each.node));
    return nodes;
  }
}
