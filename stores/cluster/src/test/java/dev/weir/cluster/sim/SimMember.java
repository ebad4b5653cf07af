package dev.weir.cluster.sim;

import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.asking.GroupLeader;
import dev.weir.cluster.internal.log.BundledLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.PeerSlots;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupCalendar;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.WallClock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A member of a cluster: a machine with a replica of each group. */
final class SimMember {
  private static final long FEW_KEYS = 12;

  final SimNode node;
  private final int number;
  private final Defect defect;
  private final SimHistory history;
  private final SimCluster cluster;
  private final List<Seat> seats = new ArrayList<>();

  // Lost in a crash:
  private CurrentMap map;
  private SimMover mover;

  /** The parts of a member for one group while it runs. */
  private final class Seat {
    final SimGroup group;
    @Nullable Replica replica;
    @Nullable ClusterTime time;
    @Nullable Ledger ledger;
    @Nullable GroupLeader leader;
    @Nullable GroupCalendar calendar;
    GroupCounters counters = new GroupCounters(node.monotonic());

    Seat(SimGroup group) {
      this.group = group;
    }

    Ledger.Machine newMachine() {
      ClusterTime newTime = new ClusterTime(node.monotonic());
      boolean bounded = defect == Defect.BOUNDED_REPLICA && number == 1;
      Replica newReplica =
          bounded
              ? new Replica(new MemoryStore(FEW_KEYS), newTime, Runnable::run, line -> {})
              : new Replica(
                  SimCluster.FINGERPRINT,
                  cluster.first(group.number),
                  newTime,
                  Runnable::run,
                  line -> {});
      if (group.number == 0) {
        newReplica.beginningWith(cluster.first);
      }
      time = newTime;
      replica = newReplica;
      ledger = null;
      leader = null;
      calendar = null;
      counters = new GroupCounters(node.monotonic());
      return BundledLedger.machine(new SimMachine(group.number, newReplica, newTime, counters));
    }

    /** Returns the log in the product's form: with bundles. */
    Ledger ledger() {
      if (ledger == null) {
        ledger = new BundledLedger(new SimBundles(group.members().get(number), defect, history));
      }
      return ledger;
    }

    GroupCalendar calendar() {
      if (calendar == null && replica != null && time != null) {
        boolean any = defect == Defect.CALENDAR_OF_ANY_CLOCK;
        calendar =
            new GroupCalendar(
                group.number,
                ledger(),
                replica,
                time,
                new WallClock(node.wall(), any ? Long.MAX_VALUE : MOST_SKEW_NANOS),
                line -> history.count("wall clocks too far off", 1));
      }
      return Objects.requireNonNull(calendar);
    }

    GroupLeader leader() {
      if (leader == null && replica != null && time != null) {
        leader = new GroupLeader(ledger(), replica, time, counters, Long.MAX_VALUE, Long.MAX_VALUE);
      }
      return Objects.requireNonNull(leader);
    }
  }

  /** The largest error of a leader's wall clock. */
  static final long MOST_SKEW_NANOS = 1_000 * Policies.MILLI;

  SimMember(int number, SimNode node, SimCluster cluster) {
    this.number = number;
    this.node = node;
    this.cluster = cluster;
    defect = cluster.defect;
    history = cluster.history;
    map = newMap();
    mover = new SimMover(this, cluster);
    if (defect == Defect.CALENDAR_OF_ANY_CLOCK && number == 0) {
      node.stepWall(2 * MOST_SKEW_NANOS);
    }
  }

  private CurrentMap newMap() {
    CurrentMap fresh =
        new CurrentMap(
            node.name, (member, known) -> cluster.askMap(node, member, known), cluster::offer);
    fresh.offer(cluster.first);
    return fresh;
  }

  CurrentMap map() {
    return map;
  }

  SimMover mover() {
    return mover;
  }

  Ledger ledger(int group) {
    return seats.get(group).ledger();
  }

  /** Makes the machine of a group, as after a restart. */
  Ledger.Machine newMachine(SimGroup group) {
    while (seats.size() <= group.number) {
      seats.add(new Seat(group));
    }
    return seats.get(group.number).newMachine();
  }

  /** Decides an entry, if this member leads the group. */
  CompletionStage<byte[]> send(int group, byte[] entry) {
    return seats.get(group).leader().decide(entry);
  }

  /** Answers a request of a mover of slots, if this member leads the group. */
  CompletionStage<byte[]> slot(int group, byte[] question) {
    Replica replica = Objects.requireNonNull(seats.get(group).replica);
    try {
      return PeerSlots.answer(ledger(group), replica, question);
    } catch (IllegalArgumentException e) { // An invalid request is refused.
      return CompletableFuture.failedStage(e);
    }
  }

  /** Returns a copy of a group's keys in a range. */
  byte[] copy(int group, long first, long last) {
    Seat seat = seats.get(group);
    long now = Objects.requireNonNull(seat.time).appliedNanos();
    return Objects.requireNonNull(seat.replica).store().lift(first, last, now);
  }

  /** Continues moves of slots, and polls the map now and then. */
  void move() {
    mover.tick();
    if (cluster.scheduler.oneIn(10)) {
      map.poll();
    }
  }

  /** Appends an entry in which time passes, if this member leads. */
  void tick(int group) {
    Seat seat = seats.get(group);
    Ledger ledger = seat.ledger();
    Replica replica = seat.replica;
    seat.calendar().check();
    if (ledger.leads() && replica != null && !replica.diverged()) {
      if (replica.level() < cluster.first.level()) {
        Object unused = ledger.append(Entry.level(cluster.first.level()));
      }
      Object unused =
          ledger.append(Entry.tick(replica.lastTick().index(), replica.lastTick().sum()));
      ClusterMap known = replica.map();
      if (known != null && cluster.scheduler.oneIn(8)) {
        // From the newest map of this member, or from one that is not in force any more.
        ClusterMap from = cluster.scheduler.oneIn(2) ? known : cluster.first;
        unused =
            ledger.append(Entry.map(from.epoch(), from.with(known.members(), known.replicas())));
      }
    }
  }

  /** Sets a group's calendar by hand to the time of a right wall clock. */
  void setCalendar(int group) {
    long wall = node.rightWallNanos();
    history.setByHand.add(wall);
    Object unused = seats.get(group).calendar().set(wall);
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
    map = newMap();
    mover = new SimMover(this, cluster);
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

  /** The machine of a group, or one with a defect. */
  private final class SimMachine implements Ledger.Machine {
    private final int group;
    private final Replica replica;
    private final ClusterTime time;
    private final GroupMachine right;

    // For a defect: the first stamp made here, and its time.
    private long firstNanos = Long.MIN_VALUE;
    private long firstAtNanos;

    SimMachine(int group, Replica replica, ClusterTime time, GroupCounters counters) {
      this.group = group;
      this.replica = replica;
      this.time = time;
      right = new GroupMachine(replica, time, counters, line -> {}, known -> map.offer(known));
    }

    @Override
    public void stamp(long term, byte[] entry) {
      if (defect == Defect.WALL_CLOCK_STAMPS) {
        long now = node.wall().nanos();
        Entry.stamp(entry, now - Math.floorMod(now, Policies.MICRO));
      } else {
        right.stamp(term, entry);
      }
      if (defect == Defect.TIME_GOES_BACK) {
        stampFromTheFirst(entry);
      }
    }

    private void stampFromTheFirst(byte[] entry) {
      long now = node.monotonic().nanos();
      if (firstNanos == Long.MIN_VALUE) {
        firstNanos = new ByteReader(entry, 0).readLong();
        firstAtNanos = now;
      }
      long passed = now - firstAtNanos;
      Entry.stamp(entry, firstNanos + passed - Math.floorMod(passed, Policies.MICRO));
    }

    @Override
    public byte[] apply(long index, long term, byte[] entry) {
      if (defect == Defect.TIME_GOES_BACK) {
        time.restore(new ByteReader(entry, 0).readLong());
      }
      byte[] applied = entry;
      boolean calendar = entry[Ledger.STAMP_BYTES] == Entry.CALENDAR;
      if (calendar && defect == Defect.CALENDAR_OF_EACH_CLOCK) {
        applied = Entry.calendar(node.wall().nanos());
        Entry.stamp(applied, new ByteReader(entry, 0).readLong());
      }
      byte[] reply = right.apply(index, term, applied);
      boolean tick = entry[Ledger.STAMP_BYTES] == Entry.TICK;
      if (defect != Defect.LEADER_DECIDES_ALONE) {
        history.state(
            group, number, index, tick ? replica.lastTick().sum() : 0, replica.diverged());
      }
      return reply;
    }

    @Override
    public CompletionStage<?> image(Path file) throws IOException {
      return replica.image(cluster.images.write(file));
    }

    @Override
    public void restore(Path file) throws IOException {
      try (InputStream image = cluster.images.read(file)) {
        replica.restore(image);
      }
      ClusterMap restored = replica.map();
      if (restored != null) {
        map.offer(restored);
      }
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
