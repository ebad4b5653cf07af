package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.map.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** The injector of a run's faults, each at its time. */
final class SimFaults {
  private static final long MILLI = Policies.MILLI;

  private final SimCluster cluster;
  private final Scheduler scheduler;
  private final Map<Integer, String> told = new TreeMap<>();
  private boolean over;

  SimFaults(SimCluster cluster) {
    this.cluster = cluster;
    scheduler = cluster.scheduler;
  }

  void start(List<SimFault> faults) {
    for (SimFault each : faults) {
      scheduler.at(each.atNanos(), each.number(), () -> happen(each));
    }
  }

  /** Returns descriptions of the faults that happened, by their numbers. */
  Map<Integer, String> descriptions() {
    return told;
  }

  /** Ends a fault later, unless all faults are over by then: permanent losses after that stay. */
  private void later(long nanos, Runnable end) {
    scheduler.after(
        nanos,
        () -> {
          if (!over) {
            end.run();
          }
        });
  }

  private void happen(SimFault fault) {
    if (!over) {
      cluster.history.count("faults", 1);
      String what = new Happening(new SplittableRandom(fault.choices())).of(fault.kind());
      told.put(
          fault.number(),
          String.format("%d ms %s %s", fault.atNanos() / MILLI, fault.kind(), what));
    }
  }

  /** One fault, with its random choices; it returns a description. */
  private final class Happening {
    private final SplittableRandom random;

    Happening(SplittableRandom random) {
      this.random = random;
    }

    private String of(SimFault.Kind kind) {
      return switch (kind) {
        case CRASH -> crash(victim());
        case POWER -> power();
        case PAUSE -> pause(victim().node, random.nextInt(3) == 0);
        case ISOLATE -> isolate(leader().node, random.nextInt(3));
        case CUT -> cut(anyNode(), anyNode());
        case ELECT -> elect(anyGroup());
        case STEP_WALL -> stepWall(anyNode());
        case SLOW -> slow(victim());
        case WIPE -> wipe(victim());
        case LOSS -> loss();
        case LATE -> late();
        case SERVER -> server(anyServer());
        case RULE -> rule();
        case MOVE -> move();
        case CALENDAR -> {
          setCalendars();
          yield "is set by hand";
        }
      };
    }

    private SimMember anyMember() {
      return cluster.members.get(random.nextInt(cluster.members.size()));
    }

    private SimServer anyServer() {
      return cluster.servers.get(random.nextInt(cluster.servers.size()));
    }

    private SimNode anyNode() {
      return random.nextInt(3) == 0 ? anyServer().node : anyMember().node;
    }

    private SimGroup anyGroup() {
      return cluster.groups.get(random.nextInt(cluster.groups.size()));
    }

    /** Returns a member, most of the time one that leads some group. */
    private SimMember leader() {
      SimLedger leader = anyGroup().leader();
      return leader == null ? anyMember() : cluster.member(leader.node.name);
    }

    private SimMember victim() {
      return random.nextBoolean() ? leader() : anyMember();
    }

    private long time() {
      return SimFault.time(random);
    }

    private String lasting(long nanos) {
      return " for " + nanos / MILLI + " ms";
    }

    private String crash(SimMember member) {
      long time = time();
      if (member.node.up()) {
        cluster.history.count("crashes", 1);
        member.crash();
        later(time, () -> SimFaults.start(member));
      }
      return member.node + lasting(time);
    }

    private String power() {
      int count = random.nextInt(2, cluster.members.size() + 1);
      int first = random.nextInt(cluster.members.size());
      StringBuilder whose = new StringBuilder();
      for (int i = 0; i < count; i++) {
        whose.append(crash(cluster.members.get((first + i) % cluster.members.size()))).append("; ");
      }
      return whose.toString();
    }

    private String pause(SimNode node, boolean clockToo) {
      long time = time();
      if (node.runs()) {
        cluster.history.count("pauses", 1);
        node.pause(clockToo);
        later(time, node::resume);
      }
      return node + (clockToo ? " and its clock" : "") + lasting(time);
    }

    /** Cuts a node off from all others, in one direction or both. */
    private String isolate(SimNode node, int directions) {
      long time = time();
      for (SimNode other : cluster.nodes()) {
        boolean server = other.name.startsWith("server") && random.nextBoolean();
        if (other != node && !server) {
          if (directions != 1) {
            cut(node, other, time);
          }
          if (directions != 2) {
            cut(other, node, time);
          }
        }
      }
      String ways = directions == 0 ? "both ways" : directions == 1 ? "inwards" : "outwards";
      return node + " " + ways + lasting(time);
    }

    private String cut(SimNode from, SimNode to) {
      long time = time();
      cut(from, to, time);
      boolean back = random.nextBoolean();
      if (back) {
        cut(to, from, time);
      }
      return from + " to " + to + (back ? " and back" : "") + lasting(time);
    }

    private void cut(SimNode from, SimNode to, long time) {
      cluster.net.cut(from, to);
      later(time, () -> cluster.net.heal(from, to));
    }

    private String elect(SimGroup group) {
      group.elect();
      return "group " + group.number;
    }

    private String stepWall(SimNode node) {
      long by = random.nextLong(-5_000, 5_000);
      node.stepWall(by * MILLI);
      return node + " by " + by + " ms";
    }

    private String slow(SimMember member) {
      boolean disk = random.nextBoolean();
      for (SimGroup each : cluster.groups) {
        SimLedger ledger =
            each.members().stream().filter(l -> l.node == member.node).findFirst().orElseThrow();
        ledger.mostFlushNanos = disk ? 500 * MILLI : MILLI;
        ledger.applier.mostLagNanos = disk ? MILLI / 2 : 1_000 * MILLI;
      }
      long time = time();
      later(time, () -> SimFaults.this.fast(member));
      return (disk ? "disk of " : "applying at ") + member.node + lasting(time);
    }

    /** Wipes a member's disk; only one member at a time may lack its disk. */
    private String wipe(SimMember member) {
      boolean may = allVote() && member.node.up();
      if (may) {
        member.crash();
        member.wipe();
        long back = SimFault.between(random, MILLI, 300 * MILLI);
        later(back, () -> SimFaults.start(member));
      }
      return may ? member.node.name : "nobody";
    }

    private String loss() {
      cluster.net.lossOneIn = random.nextInt(3, 40);
      long time = time();
      later(time, () -> cluster.net.lossOneIn = 0);
      return "one in " + cluster.net.lossOneIn + lasting(time);
    }

    private String late() {
      cluster.net.lateOneIn = random.nextInt(5, 100);
      long time = time();
      later(time, () -> cluster.net.lateOneIn = 0);
      return "one in " + cluster.net.lateOneIn + lasting(time);
    }

    private String server(SimServer server) {
      return switch (random.nextInt(4)) {
        case 0 -> {
          cluster.history.serverRestarts++;
          server.restart();
          yield server.node + " starts again";
        }
        case 1 -> "pause " + pause(server.node, true);
        default -> "pause " + pause(server.node, false);
      };
    }

    /** Moves some slots, most of the time some with traffic. */
    private String move() {
      SimLedger leader = cluster.groups.get(0).leader();
      int to = random.nextInt(cluster.groups.size());
      List<Integer> slots = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        SimRule rule = cluster.history.rules().get(random.nextInt(cluster.history.rules().size()));
        int key = random.nextInt(5) > 0 ? random.nextInt(rule.hot) : random.nextInt(20);
        slots.add(Placement.slot(rule.fingerprint(key)));
      }
      if (leader != null) {
        cluster.member(leader.node.name).mover().begin(slots, to);
      }
      return (leader == null ? "by nobody: " : "") + slots + " to group " + to;
    }

    private String rule() {
      SimRule rule = cluster.history.rules().get(random.nextInt(cluster.history.rules().size()));
      rule.change(random);
      for (SimServer each : cluster.servers) {
        boolean retires = random.nextInt(4) == 0;
        long until = SimFault.between(random, MILLI, 500 * MILLI);
        scheduler.after(until, () -> each.renew(rule, retires));
      }
      return rule.name + ": " + rule.permits();
    }
  }

  /** Sets the calendars, as an operator would. */
  void setCalendars() {
    for (SimGroup each : cluster.groups) {
      SimLedger leader = each.leader();
      if (leader != null && leader.node.runs()) {
        cluster.member(leader.node.name).setCalendar(each.number);
      }
    }
  }

  private static void start(SimMember member) {
    if (!member.node.up()) {
      member.start();
    }
  }

  private void fast(SimMember member) {
    for (SimGroup group : cluster.groups) {
      for (SimLedger each : group.members()) {
        if (each.node == member.node) {
          each.mostFlushNanos = MILLI;
          each.applier.mostLagNanos = MILLI / 2;
        }
      }
    }
  }

  /** Repairs everything. */
  void end() {
    over = true;
    cluster.net.heal();
    cluster.net.lossOneIn = 0;
    cluster.net.lateOneIn = 0;
    for (SimNode each : cluster.nodes()) {
      if (each.up()) {
        each.resume();
      }
    }
    cluster.members.forEach(SimFaults::start);
    cluster.members.forEach(this::fast);
  }

  /** Returns whether no member lacks the content of its disk. */
  boolean allVote() {
    for (SimGroup group : cluster.groups) {
      for (int i = 0; i < group.members().size(); i++) {
        if (!group.votes(i)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Takes a minority of the members away for good. */
  void loseMinority() {
    int most = (cluster.members.size() - 1) / 2;
    int how = scheduler.random.nextInt(4);
    for (int i = 0; i < most && how > 0; i++) {
      SimMember lost =
          cluster.members.get((int) ((scheduler.nanos() + i) % cluster.members.size()));
      switch (how) {
        case 1 -> lost.crash();
        case 2 -> lost.node.pause(false);
        default -> {
          for (SimNode each : cluster.nodes()) {
            if (each != lost.node) {
              cluster.net.cut(each, lost.node);
              cluster.net.cut(lost.node, each);
            }
          }
        }
      }
    }
  }
}
