package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.sim.SimDisk.Item;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A replicated log: its members and its leader. Elections are decided here, as if all reachable
 * members had voted at once; the result is what Raft's would be: the leader has every entry on
 * which a majority of the voters may have agreed.
 */
final class SimGroup {
  private static final long MILLI = Policies.MILLI;

  final int number;
  final SimNet net;
  final Defect defect;

  /** The number of entries after which members make an image. */
  final int imageEvery;

  private final Scheduler scheduler;
  private final SimHistory history;
  private final List<SimLedger> members = new ArrayList<>();
  private final List<Boolean> votes = new ArrayList<>();
  private final IntFunction<Ledger.Machine> machines;
  private long files;
  private long leaderlessSinceNanos;
  private long patienceNanos = 50 * MILLI;

  /**
   * Creates a group.
   *
   * @param machines makes a member's machine, as after a restart
   */
  SimGroup(
      int number,
      SimNet net,
      Defect defect,
      Scheduler scheduler,
      SimHistory history,
      IntFunction<Ledger.Machine> machines) {
    this.number = number;
    this.net = net;
    this.defect = defect;
    this.scheduler = scheduler;
    this.history = history;
    this.machines = machines;
    boolean rebuilds =
        defect == Defect.ANSWERS_BEFORE_COMMIT
            || defect == Defect.UNFLUSHED_ACKS
            || defect == Defect.WIPED_VOTER;
    imageEvery = rebuilds ? Integer.MAX_VALUE : scheduler.random.nextInt(60, 400);
  }

  void add(SimNode node) {
    members.add(new SimLedger(this, members.size(), node, machines.apply(members.size())));
    votes.add(true);
  }

  void start() {
    scheduler.after(0, this::watch);
  }

  List<SimLedger> members() {
    return members;
  }

  int majority() {
    return members.size() / 2 + 1;
  }

  boolean votes(int member) {
    return votes.get(member);
  }

  Ledger.Machine newMachine(int member) {
    return machines.apply(member);
  }

  Path newFile() {
    return Path.of("image-" + number + "-" + files++);
  }

  void applied(int member, Item item, byte[] reply) {
    history.applied(number, member, item, reply);
  }

  void count(String what, long times) {
    history.count(what, times);
  }

  /** Returns whether others have agreed on another leader. */
  boolean stale(SimLedger leader) {
    return leader.ledTerm() < newestTerm();
  }

  private void watch() {
    SimLedger leader = leader();
    if (leader != null && voters(leader) >= majority()) {
      leaderlessSinceNanos = scheduler.nanos();
      readmit(leader);
    } else if (scheduler.nanos() - leaderlessSinceNanos > patienceNanos) {
      patienceNanos = scheduler.between(50 * MILLI, 500 * MILLI);
      elect();
    }
    scheduler.after(10 * MILLI, this::watch);
  }

  /** Returns the leader of the newest term, or null. */
  @Nullable SimLedger leader() {
    SimLedger newest = null;
    for (SimLedger each : members) {
      boolean newer = newest == null || each.ledTerm() > newest.ledTerm();
      newest = each.believes() && newer ? each : newest;
    }
    return newest == null || newest.ledTerm() < newestTerm() || !newest.node.runs() ? null : newest;
  }

  private long newestTerm() {
    return members.stream().mapToLong(each -> each.disk.term()).max().orElse(0);
  }

  private boolean both(SimNode one, SimNode other) {
    return one == other || (net.reaches(one, other) && net.reaches(other, one));
  }

  /** Returns the number of voters that run and can be reached from a member, including itself. */
  private int voters(SimLedger from) {
    int count = 0;
    for (int i = 0; i < members.size(); i++) {
      SimNode node = members.get(i).node;
      count += votes(i) && node.runs() && both(node, from.node) ? 1 : 0;
    }
    return count;
  }

  /** Elects a leader on which a majority agrees, if there is one. */
  void elect() {
    int first = scheduler.random.nextInt(members.size());
    for (int i = 0; i < members.size(); i++) {
      if (elect((first + i) % members.size())) {
        return;
      }
    }
  }

  private boolean elect(int number) {
    SimLedger candidate = members.get(number);
    if (!votes(number) || !candidate.node.runs()) {
      return false;
    }
    List<SimLedger> agree = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      SimLedger voter = members.get(i);
      boolean asked = votes(i) && voter.node.runs() && both(voter.node, candidate.node);
      if (asked && !ahead(voter.disk, candidate.disk)) {
        agree.add(voter);
      }
    }
    if (agree.size() < majority()) {
      return false;
    }
    long term = newestTerm() + 1;
    for (SimLedger each : agree) {
      each.disk.term(term);
      each.follow(candidate.node.name);
    }
    candidate.lead(term);
    return true;
  }

  private static boolean ahead(SimDisk one, SimDisk other) {
    return one.lastTerm() > other.lastTerm()
        || (one.lastTerm() == other.lastTerm() && one.last() > other.last());
  }

  /**
   * Called when a member has lost its disk: it does not vote until it has everything again that it
   * may have voted for.
   */
  void wiped(int member) {
    votes.set(member, defect == Defect.WIPED_VOTER);
    members.forEach(each -> each.forget(member));
  }

  private void readmit(SimLedger leader) {
    for (int i = 0; i < members.size(); i++) {
      SimLedger member = members.get(i);
      boolean same = member.disk.term() == leader.ledTerm();
      if (!votes(i)
          && leader.leads()
          && same
          && member.disk.flushed() >= leader.applier.committed()) {
        votes.set(i, member.disk.lastTerm() == leader.ledTerm());
        count("wiped members that vote again", votes(i) ? 1 : 0);
      }
    }
  }
}
