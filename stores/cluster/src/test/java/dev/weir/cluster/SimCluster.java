package dev.weir.cluster;

import dev.weir.Fingerprint;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster in virtual time: members, groups, and the servers that ask them. All of Weir's code in
 * it is the real one; only the log, the machines, and the network are not.
 */
final class SimCluster {
  static final Fingerprint FINGERPRINT = Fingerprint.seeded(3, 4);

  /** How much faster or slower than real a clock may be, in parts per million. */
  static final int MOST_PPM = 200;

  private static final long TICK_NANOS = 100 * Policies.MILLI;

  final Scheduler scheduler;
  final Defect defect;
  final SimHistory history;
  final SimNet net;
  final Placement placement;
  final List<SimMember> members = new ArrayList<>();
  final List<SimGroup> groups = new ArrayList<>();
  final List<SimServer> servers = new ArrayList<>();

  SimCluster(long seed, Defect defect, Path folder) {
    scheduler = new Scheduler(seed);
    this.defect = defect;
    net = new SimNet(scheduler);
    placement = new Placement(1 + scheduler.random.nextInt(3));
    history = new SimHistory(placement);
    int size = scheduler.oneIn(3) ? 5 : 3;
    for (int i = 0; i < size; i++) {
      SimNode node = new SimNode("member-" + i, scheduler, MOST_PPM);
      members.add(new SimMember(i, node, defect, history));
    }
    for (int i = 0; i < placement.size(); i++) {
      int number = i;
      groups.add(
          new SimGroup(
              number,
              net,
              defect,
              scheduler,
              folder,
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

  private void tick(int group) {
    for (SimMember each : members) {
      if (each.node.runs()) {
        each.tick(group);
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
