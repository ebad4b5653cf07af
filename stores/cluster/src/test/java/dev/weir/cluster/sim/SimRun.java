package dev.weir.cluster.sim;

import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.map.Rebalancer;
import dev.weir.cluster.sim.SimHistory.Kind;
import dev.weir.cluster.sim.SimHistory.Violation;
import dev.weir.shared.SharedMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One run of a simulated cluster, from a seed to its violations. */
final class SimRun {
  private static final long MILLI = Policies.MILLI;
  private static final long CALENDARS_NANOS = 500 * MILLI;
  private static final long REPAIR_NANOS = 1_500 * MILLI;

  /** The longest time until new keys are admitted, once there are no faults any more. */
  private static final long MOST_STUCK_NANOS = 5_000 * MILLI;

  /**
   * The longest time until nothing moves any more: a group that did not answer is left alone for a
   * while.
   */
  private static final long MOST_MOVING_NANOS = 30_000 * MILLI;

  final SimCluster cluster;
  private final Scheduler scheduler;
  private final SimFaults faults;
  private int fresh;

  private SimRun(long seed, Defect defect) {
    cluster = new SimCluster(seed, defect);
    scheduler = cluster.scheduler;
    faults = new SimFaults(cluster);
  }

  /** Runs a seed with all of its faults, and checks the whole history. */
  static SimRun of(long seed, Defect defect) {
    return of(seed, defect, SimFault.of(seed, defect));
  }

  /** Runs a seed with some of its faults, and checks the whole history. */
  static SimRun of(long seed, Defect defect, List<SimFault> faults) {
    SimRun run = new SimRun(seed, defect);
    run.run(faults);
    new SimChecks(run.cluster.history, run.cluster.map()).run();
    return run;
  }

  List<Violation> violations() {
    return cluster.history.violations();
  }

  /** Returns descriptions of its faults, by their numbers. */
  Map<Integer, String> descriptions() {
    return faults.descriptions();
  }

  private void run(List<SimFault> some) {
    List<SimTraffic> traffic = new ArrayList<>();
    for (SimServer each : cluster.servers) {
      SimTraffic clients = new SimTraffic(cluster, each);
      traffic.add(clients);
      clients.start();
    }
    scheduler.after(CALENDARS_NANOS, faults::setCalendars);
    faults.start(some);
    scheduler.runUntil(SimFault.LAST_NANOS);
    faults.end();
    pass(REPAIR_NANOS);
    for (long i = 0; i < MOST_STUCK_NANOS && !faults.allVote(); i += 100 * MILLI) {
      pass(100 * MILLI);
    }
    if (!faults.allVote()) {
      cluster.history.violation(Kind.STUCK, "a member that has lost its disk does not vote");
    }
    faults.loseMinority();
    List<Boolean> admitted = new ArrayList<>();
    for (SimServer server : cluster.servers) {
      for (int group = 0; group < cluster.map().groups(); group++) {
        admitted.add(false);
        admit(server, group, admitted, admitted.size() - 1);
      }
    }
    for (long i = 0; i < MOST_STUCK_NANOS && admitted.contains(false); i += 100 * MILLI) {
      pass(100 * MILLI);
    }
    if (admitted.contains(false)) {
      cluster.history.violation(Kind.STUCK, "after all faults: " + admitted);
    }
    traffic.forEach(SimTraffic::stop);
    for (long i = 0; i < MOST_MOVING_NANOS && moves(); i += 100 * MILLI) {
      pass(100 * MILLI);
    }
    if (moves()) {
      cluster.history.violation(Kind.STUCK, "after all faults: moves " + cluster.map().moves());
    }
    pass(500 * MILLI);
    count();
  }

  /** Returns whether a slot still has to move. */
  private boolean moves() {
    ClusterMap map = cluster.map();
    boolean back = cluster.rebalances && cluster.defect == Defect.NONE;
    return !map.moves().isEmpty()
        || (back && !Rebalancer.misplaced(map, new Placement(map.groups())).isEmpty());
  }

  private void count() {
    SimHistory history = cluster.history;
    for (SimServer each : cluster.servers) {
      SharedMetrics metrics = each.store().metrics();
      history.count("permits given back as their answer was late", metrics.late());
      history.count("decided by what a server held", metrics.held());
    }
    cluster.members.forEach(each -> history.count("refusals not logged", each.sieved()));
    history.checks().forEach(each -> history.count("checks: " + each.reason, 1));
    history.logs().forEach(each -> history.count("entries", each.size()));
    history.count("refunds", history.checks().stream().filter(each -> each.refunded).count());
  }

  private void pass(long nanos) {
    scheduler.runUntil(scheduler.nanos() + nanos);
  }

  /** Requests new keys, until one is admitted. */
  private void admit(SimServer server, int group, List<Boolean> admitted, int place) {
    if (admitted.get(place)) {
      return;
    }
    SimRule rule = cluster.history.rules().get(0);
    assert rule.consistency == Consistency.STRICT;
    long fingerprint = rule.fingerprint(1_000_000 + fresh++);
    while (cluster.map().group(fingerprint) != group) {
      fingerprint = rule.fingerprint(1_000_000 + fresh++);
    }
    Charges charges = new Charges().add(server.binding(rule), fingerprint, 1);
    SimHistory.Check check =
        new SimHistory.Check(
            rule, fingerprint, 1, charges.binding(0).policy().quota().permits(), scheduler.nanos());
    cluster.history.add(check);
    server
        .store()
        .decide(
            charges,
            server.node.monotonic().nanos(),
            done -> {
              check.answered = true;
              check.answeredNanos = scheduler.nanos();
              check.allowed = done.allowed();
              check.reason = done.reason(0);
              check.atNanos = done.atNanos(0);
              if (done.allowed()) {
                admitted.set(place, true);
              }
            });
    server.node.run(50 * MILLI, () -> admit(server, group, admitted, place));
  }
}
