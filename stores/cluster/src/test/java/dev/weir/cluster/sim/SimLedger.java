package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.FixedLedger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.sim.SimDisk.Image;
import dev.weir.cluster.sim.SimDisk.Item;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One member's part in a replicated log, as simple as possible with everything that may happen: a
 * leader that has not noticed its replacement, entries that are lost with it or come to light
 * later, disks that flush late, followers that lag.
 */
final class SimLedger implements FixedLedger {
  private static final long MICRO = Policies.MICRO;
  private static final long MILLI = Policies.MILLI;
  private static final long HEARTBEAT_NANOS = 20 * MILLI;
  private static final int MOST_PENDING = 64;
  private static final int MOST_SENT = 200;

  final SimNode node;
  final SimDisk disk = new SimDisk();
  private final SimGroup group;
  private final int number;
  private final Scheduler scheduler;

  /** The longest time of a flush. */
  long mostFlushNanos = MILLI;

  final SimApplier applier;

  // Lost in a crash:
  private boolean leads;
  private long ledTerm;
  private long firstOfTerm;
  private long quorumHeardAtNanos;
  private long patienceNanos;
  private @Nullable String leader;
  private long[] matched = {};
  private long[] next = {};
  private long[] heardAtNanos = {};

  SimLedger(SimGroup group, int number, SimNode node, Machine machine) {
    this.group = group;
    this.number = number;
    this.node = node;
    this.scheduler = node.scheduler;
    this.applier = new SimApplier(group, number, node, disk, machine);
    begin();
  }

  private void begin() {
    node.run(scheduler.random.nextLong(HEARTBEAT_NANOS), this::beat);
  }

  /** Starts after a crash, with the content of the disk. */
  void restart(Machine fresh) {
    leads = false;
    leader = null;
    applier.restart(fresh);
    begin();
  }

  // Leading.

  /** Begins to lead, since a majority has agreed. */
  void lead(long term) {
    group.count("elections", 1);
    leads = true;
    ledTerm = term;
    leader = node.name;
    int size = group.members().size();
    matched = new long[size];
    next = new long[size];
    heardAtNanos = new long[size];
    for (int i = 0; i < size; i++) {
      next[i] = disk.last() + 1;
      heardAtNanos[i] = scheduler.nanos();
    }
    quorumHeardAtNanos = scheduler.nanos();
    patienceNanos = scheduler.between(100 * MILLI, 4_000 * MILLI);
    firstOfTerm = disk.last() + 1;
    log(null);
  }

  /** Stops leading, if it did. */
  void follow(@Nullable String other) {
    leader = other;
    if (leads) {
      leads = false;
      if (scheduler.random.nextBoolean()) {
        applier.unknown(0, "another member leads; it may still be applied");
      }
    }
  }

  /** Returns whether it takes itself for the leader. */
  boolean believes() {
    return leads && node.up();
  }

  long ledTerm() {
    return ledTerm;
  }

  @Override
  public boolean leads() {
    return leads && applier.applied() >= firstOfTerm;
  }

  @Override
  public @Nullable String leader() {
    return leader;
  }

  @Override
  public CompletionStage<byte[]> append(byte[] entry) {
    if (!leads()) {
      return CompletableFuture.failedStage(
          new LedgerException(Outcome.NOT_LEADER, leader, "another member leads"));
    }
    if (applier.waiting() >= MOST_PENDING) {
      return CompletableFuture.failedStage(
          new LedgerException(Outcome.OVERLOADED, leader, "too much waits"));
    }
    group.count("entries given to a leader that is none any more", group.stale(this) ? 1 : 0);
    Machine machine = applier.machine();
    machine.stamp(ledTerm, entry);
    if (group.defect == Defect.LEADER_DECIDES_ALONE) {
      return CompletableFuture.completedStage(machine.apply(applier.applied(), ledTerm, entry));
    }
    CompletionStage<byte[]> reply = applier.await(disk.last() + 1, ledTerm);
    log(entry);
    return reply;
  }

  private void log(byte @Nullable [] bytes) {
    Item item = new Item(disk.last() + 1, ledTerm, bytes, scheduler.nanos());
    disk.append(item);
    flush(item, () -> {});
    if (group.defect == Defect.UNFLUSHED_ACKS) {
      commit();
    }
    for (int i = 0; i < next.length; i++) {
      if (i != number && next[i] == item.index()) {
        replicate(i);
      }
    }
  }

  /** Puts an entry and all before it on the disk, which takes time. */
  private void flush(Item item, Runnable then) {
    boolean lazy = group.defect == Defect.UNFLUSHED_ACKS; // Like a disk that nothing forces.
    node.run(
        scheduler.between(50 * MICRO, lazy ? 10_000 * MILLI : mostFlushNanos),
        () -> {
          if (disk.termAt(item.index()) == item.term()) {
            disk.flush(item.index());
            then.run();
            if (leads) {
              commit();
            }
          }
        });
  }

  private void beat() {
    if (leads) {
      for (int i = 0; i < next.length; i++) {
        if (i != number) {
          replicate(i);
        }
      }
      if (scheduler.nanos() - quorumHeardAtNanos > patienceNanos) {
        follow(null);
      }
    }
    node.run(HEARTBEAT_NANOS, this::beat);
  }

  private void replicate(int to) {
    SimLedger other = group.members().get(to);
    long term = ledTerm;
    long before = next[to] - 1;
    Image image = disk.image();
    if (before < disk.first() - 1 && image != null) {
      next[to] = image.index() + 1;
      group.net.send(node, other.node, () -> other.install(this, term, image));
      return;
    }
    long beforeTerm = disk.termAt(before);
    List<Item> some = disk.from(before + 1, MOST_SENT);
    long known = applier.committed();
    next[to] = before + 1 + some.size();
    group.net.send(
        node, other.node, () -> other.receive(this, term, before, beforeTerm, some, known));
  }

  /** Notes that a member has lost everything. */
  void forget(int member) {
    if (leads) {
      matched[member] = 0;
      next[member] = 1;
    }
  }

  /**
   * Notes the entries of a follower; a negative index is the one from which on it lacks entries.
   */
  private void hear(int from, long term, long index) {
    if (term > disk.term()) {
      disk.term(term);
      follow(null);
    }
    if (!leads || term != ledTerm) {
      return;
    }
    heardAtNanos[from] = scheduler.nanos();
    if (index < 0) {
      next[from] = Math.max(matched[from] + 1, Math.min(next[from], -index));
      replicate(from);
    } else {
      matched[from] = Math.max(matched[from], index);
      next[from] = Math.max(next[from], index + 1);
      commit();
    }
    int heard = 1;
    for (int i = 0; i < heardAtNanos.length; i++) {
      boolean lately = scheduler.nanos() - heardAtNanos[i] < 3 * HEARTBEAT_NANOS;
      heard += i != number && group.votes(i) && lately ? 1 : 0;
    }
    if (heard >= group.majority()) {
      quorumHeardAtNanos = scheduler.nanos();
    }
  }

  private void commit() {
    matched[number] = group.defect == Defect.UNFLUSHED_ACKS ? disk.last() : disk.flushed();
    long most = applier.committed();
    for (long index = disk.last(); index > most && disk.termAt(index) == ledTerm; index--) {
      int have = 0;
      for (int i = 0; i < matched.length; i++) {
        have += group.votes(i) && matched[i] >= index ? 1 : 0;
      }
      boolean alone = group.defect == Defect.ANSWERS_BEFORE_COMMIT && disk.flushed() >= index;
      if (have >= group.majority() || alone) {
        most = index;
      }
    }
    applier.commit(most);
  }

  // Following.

  private boolean follows(SimLedger from, long term) {
    if (term < disk.term()) {
      long newer = disk.term();
      group.net.send(node, from.node, () -> from.hear(number, newer, 0));
      return false;
    }
    disk.term(term);
    if (leads && ledTerm == term) {
      return false;
    }
    follow(from.node.name);
    return true;
  }

  private void receive(
      SimLedger from,
      long term,
      long before,
      long beforeTerm,
      List<Item> some,
      long leadersCommitted) {
    if (!follows(from, term)) {
      return;
    }
    boolean known = before < disk.first() - 1 || disk.termAt(before) == beforeTerm;
    if (!known) {
      long lacks = -Math.min(before, disk.last() + 1);
      group.net.send(node, from.node, () -> from.hear(number, term, lacks));
      return;
    }
    for (Item each : some) {
      if (each.index() >= disk.first() && disk.termAt(each.index()) != each.term()) {
        if (each.index() <= disk.last()) {
          truncate(each.index());
        }
        disk.append(each);
      }
    }
    long has = before + some.size();
    if (disk.flushed() >= has || group.defect == Defect.UNFLUSHED_ACKS) {
      group.net.send(node, from.node, () -> from.hear(number, term, has));
    }
    if (disk.flushed() < has) {
      flush(
          disk.at(has), () -> group.net.send(node, from.node, () -> from.hear(number, term, has)));
    }
    applier.commit(Math.min(leadersCommitted, has));
  }

  private void truncate(long index) {
    group.count("entries lost with their leader", disk.last() - index + 1);
    disk.truncate(index);
    applier.truncated(index);
  }

  private void install(SimLedger from, long term, Image image) {
    if (!follows(from, term)) {
      return;
    }
    if (image.index() > applier.applied()) {
      group.count("images installed", 1);
      disk.install(image);
      applier.install(image);
    }
    long has = image.index();
    node.run(
        scheduler.between(50 * MICRO, mostFlushNanos),
        () -> group.net.send(node, from.node, () -> from.hear(number, term, has)));
  }

  @Override
  public Status status() {
    return new Status(leader, ledTerm, applier.committed(), applier.applied());
  }

  @Override
  public void transfer(@Nullable String member) {}

  @Override
  public void close() {}
}
