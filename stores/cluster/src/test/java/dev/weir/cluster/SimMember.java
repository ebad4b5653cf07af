package dev.weir.cluster;

import dev.weir.Binding;
import dev.weir.MemoryStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A member of a cluster: a machine with a replica of each group. */
final class SimMember {
  private static final long FEW_KEYS = 12;

  final SimNode node;
  private final int number;
  private final Defect defect;
  private final SimHistory history;
  private final List<Seat> seats = new ArrayList<>();

  /** What a member has of one group while it runs. */
  private final class Seat {
    final SimGroup group;
    @Nullable Replica replica;
    @Nullable ClusterTime time;
    @Nullable GroupLeader leader;

    Seat(SimGroup group) {
      this.group = group;
    }

    Ledger.Machine newMachine() {
      ClusterTime newTime = new ClusterTime(node.monotonic());
      boolean bounded = defect == Defect.BOUNDED_REPLICA && number == 1;
      Replica newReplica =
          bounded
              ? new Replica(new MemoryStore(FEW_KEYS), newTime, Runnable::run, line -> {})
              : new Replica(SimCluster.FINGERPRINT, newTime, Runnable::run, line -> {});
      time = newTime;
      replica = newReplica;
      leader = null;
      return new SimMachine(group.number, newReplica, newTime);
    }

    GroupLeader leader() {
      if (leader == null && replica != null && time != null) {
        SimLedger ledger = group.members().get(number);
        leader = new GroupLeader(ledger, replica, time, Long.MAX_VALUE, Long.MAX_VALUE);
      }
      return Objects.requireNonNull(leader);
    }
  }

  SimMember(int number, SimNode node, Defect defect, SimHistory history) {
    this.number = number;
    this.node = node;
    this.defect = defect;
    this.history = history;
  }

  /** Makes the machine of a group, as after a restart. */
  Ledger.Machine newMachine(SimGroup group) {
    while (seats.size() <= group.number) {
      seats.add(new Seat(group));
    }
    return seats.get(group.number).newMachine();
  }

  /** Decides an entry, as the leader of a group. */
  CompletionStage<byte[]> ask(int group, byte[] entry) {
    return seats.get(group).leader().ask(entry);
  }

  /** Has time pass, where this member leads. */
  void tick(int group) {
    Seat seat = seats.get(group);
    SimLedger ledger = seat.group.members().get(number);
    Replica replica = seat.replica;
    if (ledger.leads() && replica != null && !replica.diverged()) {
      Object unused =
          ledger.append(Entry.tick(replica.lastTick().index(), replica.lastTick().sum()));
    }
  }

  long sieved() {
    return seats.stream().mapToLong(each -> each.leader().sieved()).sum();
  }

  boolean diverged(int group) {
    Replica replica = seats.get(group).replica;
    return replica != null && replica.diverged();
  }

  void crash() {
    node.crash();
    seats.forEach(each -> each.group.members().get(number).disk.loseUnflushed());
  }

  void start() {
    node.start();
    for (Seat each : seats) {
      each.group.members().get(number).restart(each.newMachine());
    }
  }

  /** Loses its disk, while it is down. */
  void wipe() {
    for (Seat each : seats) {
      each.group.members().get(number).disk.wipe();
      each.group.wiped(number);
    }
  }

  /** The machine of a group, or one that is built wrong. */
  private final class SimMachine implements Ledger.Machine {
    private final int group;
    private final Replica replica;
    private final ClusterTime time;
    private final GroupMachine right;

    SimMachine(int group, Replica replica, ClusterTime time) {
      this.group = group;
      this.replica = replica;
      this.time = time;
      right = new GroupMachine(replica, time, line -> {});
    }

    @Override
    public void stamp(long term, byte[] entry) {
      if (defect == Defect.WALL_CLOCK_STAMPS) {
        long now = node.wall().nanos();
        Entry.stamp(entry, now - Math.floorMod(now, Policies.MICRO));
      } else {
        right.stamp(term, entry);
      }
    }

    @Override
    public byte[] apply(long index, long term, byte[] entry) {
      if (defect == Defect.TIME_GOES_BACK) {
        time.restore(new ByteReader(entry, 0).readLong());
      }
      byte[] reply = right.apply(index, term, entry);
      boolean tick = entry[Ledger.STAMP_BYTES] == Entry.TICK;
      if (defect != Defect.LEADER_DECIDES_ALONE) {
        history.state(
            group, number, index, tick ? replica.lastTick().sum() : 0, replica.diverged());
      }
      return reply;
    }

    @Override
    public CompletionStage<?> image(Path file) throws IOException {
      return right.image(file);
    }

    @Override
    public void restore(Path file) throws IOException {
      right.restore(file);
      if (defect == Defect.IMAGE_LACKS_KEYS) {
        for (SimRule rule : history.rules()) {
          ClusterPolicy policy = ClusterPolicy.of(rule.name, rule.policy());
          Binding binding = replica.store().bind(rule.name, policy.policy(), time.appliedNanos());
          for (int key = 0; key < rule.hot; key++) {
            replica.store().reset(binding, rule.fingerprint(key), time.appliedNanos());
          }
        }
      }
    }
  }
}
