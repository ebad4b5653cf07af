package dev.weir.cluster;

import java.util.SplittableRandom;

/** Everything that may go wrong, at random times. */
final class SimFaults {
  private static final long MILLI = Policies.MILLI;

  private final SimCluster cluster;
  private final Scheduler scheduler;
  private final SplittableRandom random;
  private final long meanNanos;
  private boolean over;

  SimFaults(SimCluster cluster) {
    this.cluster = cluster;
    scheduler = cluster.scheduler;
    random = scheduler.random;
    meanNanos = scheduler.between(60 * MILLI, 800 * MILLI);
  }

  void start() {
    scheduler.after(scheduler.between(meanNanos / 4, meanNanos * 4), this::next);
  }

  private void next() {
    if (over) {
      return;
    }
    fault();
    start();
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

  /** Returns a member that leads some group, most of the time. */
  private SimMember leader() {
    SimLedger leader = cluster.groups.get(random.nextInt(cluster.groups.size())).leader();
    return leader == null ? anyMember() : cluster.member(leader.node.name);
  }

  private SimMember victim() {
    return random.nextBoolean() ? leader() : anyMember();
  }

  private long time() {
    return scheduler.between(10 * MILLI, 4_000 * MILLI);
  }

  /** Returns what goes wrong next: where it is built wrong, often what brings that to light. */
  private int next(int kinds) {
    int[] telling =
        switch (cluster.defect) {
          case ANSWERS_BEFORE_COMMIT -> new int[] {4};
          case WIPED_VOTER -> new int[] {4, 10};
          case UNFLUSHED_ACKS -> new int[] {1};
          case WALL_CLOCK_STAMPS -> new int[] {7, 8};
          case WALL_CLOCK_ALLOTMENTS -> new int[] {8};
          default -> new int[0];
        };
    boolean tells = telling.length > 0 && random.nextBoolean();
    return tells ? telling[random.nextInt(telling.length)] : random.nextInt(kinds);
  }

  private void fault() {
    switch (next(15)) {
      case 0 -> crash(victim());
      case 1 -> { // The power fails.
        int count = random.nextInt(2, cluster.members.size() + 1);
        int first = random.nextInt(cluster.members.size());
        for (int i = 0; i < count; i++) {
          crash(cluster.members.get((first + i) % cluster.members.size()));
        }
      }
      case 2, 3 -> pause(victim().node, random.nextInt(3) == 0);
      case 4 -> isolate(leader().node, random.nextInt(3));
      case 5, 6 -> cut(anyNode(), anyNode());
      case 7 -> cluster.groups.get(random.nextInt(cluster.groups.size())).elect();
      case 8 -> anyNode().stepWall(random.nextLong(-5_000 * MILLI, 5_000 * MILLI));
      case 9 -> slow(victim());
      case 10 -> wipe(victim());
      case 11 -> {
        cluster.net.lossOneIn = random.nextInt(3, 40);
        scheduler.after(time(), () -> cluster.net.lossOneIn = 0);
      }
      case 12 -> {
        cluster.net.lateOneIn = random.nextInt(5, 100);
        scheduler.after(time(), () -> cluster.net.lateOneIn = 0);
      }
      case 13 -> serverFault(anyServer());
      default -> {
        SimRule rule = cluster.history.rules().get(random.nextInt(cluster.history.rules().size()));
        rule.change(random);
        for (SimServer each : cluster.servers) {
          scheduler.after(scheduler.between(MILLI, 500 * MILLI), () -> each.renew(rule));
        }
      }
    }
  }

  private void crash(SimMember member) {
    if (member.node.up()) {
      cluster.history.count("crashes", 1);
      member.crash();
      scheduler.after(time(), () -> start(member));
    }
  }

  private static void start(SimMember member) {
    if (!member.node.up()) {
      member.start();
    }
  }

  private void pause(SimNode node, boolean clockToo) {
    if (node.runs()) {
      cluster.history.count("pauses", 1);
      node.pause(clockToo);
      scheduler.after(time(), node::resume);
    }
  }

  /** Cuts a node off from all others, in one direction or both. */
  private void isolate(SimNode node, int directions) {
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
  }

  private void cut(SimNode from, SimNode to) {
    long time = time();
    cut(from, to, time);
    if (random.nextBoolean()) {
      cut(to, from, time);
    }
  }

  private void cut(SimNode from, SimNode to, long time) {
    cluster.net.cut(from, to);
    scheduler.after(time, () -> cluster.net.heal(from, to));
  }

  private void slow(SimMember member) {
    for (SimGroup each : cluster.groups) {
      SimLedger ledger =
          each.members().stream().filter(l -> l.node == member.node).findFirst().orElseThrow();
      boolean disk = random.nextBoolean();
      ledger.mostFlushNanos = disk ? 500 * MILLI : MILLI;
      ledger.applier.mostLagNanos = disk ? MILLI / 2 : 1_000 * MILLI;
      scheduler.after(
          time(),
          () -> {
            ledger.mostFlushNanos = MILLI;
            ledger.applier.mostLagNanos = MILLI / 2;
          });
    }
  }

  /** One member at a time may lack its disk. */
  private void wipe(SimMember member) {
    boolean all = true;
    for (SimGroup group : cluster.groups) {
      for (int i = 0; i < group.members().size(); i++) {
        all &= group.votes(i);
      }
    }
    if (all && member.node.up()) {
      member.crash();
      member.wipe();
      scheduler.after(scheduler.between(MILLI, 300 * MILLI), () -> start(member));
    }
  }

  private void serverFault(SimServer server) {
    switch (random.nextInt(4)) {
      case 0 -> {
        cluster.history.serverRestarts++;
        server.restart();
      }
      case 1 -> pause(server.node, true);
      default -> pause(server.node, false);
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
  }

  /** Takes a minority of the members away for good. */
  void loseMinority() {
    int most = (cluster.members.size() - 1) / 2;
    int how = random.nextInt(4);
    for (int i = 0; i < most && how > 0; i++) {
      SimMember lost =
          cluster.members.get((int) ((scheduler.nanos() + i) % cluster.members.size()));
      switch (how) {
        case 1 -> lost.crash();
        case 2 -> lost.node.pause(false);
        default -> {
          for (SimNode each : cluster.nodes()) {
            cluster.net.cut(each, lost.node);
            cluster.net.cut(lost.node, each);
          }
        }
      }
    }
  }
}
