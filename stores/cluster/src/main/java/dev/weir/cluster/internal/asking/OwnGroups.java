package dev.weir.cluster.internal.asking;

import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.log.BundledLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.VoterChange;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.ClusterLevel;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.GroupCalendar;
import dev.weir.cluster.internal.state.GroupMachine;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.cluster.internal.state.WallClock;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The groups of a member. Safe for use by many threads; one of them opens and closes. */
public final class OwnGroups implements VoterChange.Place {
  /** The facts that are known once the cluster is formed; before there are no groups. */
  private record FormedCluster(Member self, Charter charter, RatisEngine engine) {}

  private final ClusterSettings settings;
  private final CurrentMap map;
  private final ClusterLevel level;
  private final IntConsumer raised;
  private final Executor images;
  private final Map<Integer, OwnGroup> groups = new ConcurrentSkipListMap<>();
  private volatile @Nullable FormedCluster formed;

  /**
   * Creates the groups.
   *
   * @param raised receives the level in force, from a group's log
   * @param images runs the writers of images of groups
   */
  public OwnGroups(
      ClusterSettings settings,
      CurrentMap map,
      ClusterLevel level,
      IntConsumer raised,
      Executor images) {
    this.settings = settings;
    this.map = map;
    this.level = level;
    this.raised = raised;
    this.images = images;
  }

  /** Opens the groups in the folder, and those that this member begins, if it is a founder. */
  public void begin(Member self, boolean founder, Charter charter, RatisEngine engine)
      throws IOException {
    formed = new FormedCluster(self, charter, engine);
    for (int number : engine.kept()) {
      open(number); // It may be the only one with the map.
    }
    if (founder) {
      for (int number = 0; number < charter.groups(); number++) {
        boolean mine = map.get().replicas(number).contains(self.name());
        if (mine && get(number) == null && !engine.left(number)) {
          open(number);
        }
      }
    }
  }

  /** Opens a group: with its founders, if this member is one, or otherwise to receive its log. */
  @Override
  public void open(int number) throws IOException {
    FormedCluster by = Objects.requireNonNull(formed);
    ClusterMap first = ClusterMap.first(by.charter);
    ClusterTime time = new ClusterTime(settings.clocks().monotonic());
    GroupSlots slots = new GroupSlots(slot -> first.groupOfSlot(slot) == number);
    Replica replica =
        new Replica(by.charter.fingerprint(), slots, time, images, settings.log())
            .understanding(level.able());
    if (number == 0) {
      replica.beginningWith(first);
    }
    List<Member> founders =
        number < first.groups()
            ? first.replicas(number).stream().map(first::member).toList()
            : map.get().founders(number);
    boolean founder = founders.stream().anyMatch(each -> each.id().equals(by.self.id()));
    GroupCounters counters = new GroupCounters(settings.clocks().monotonic());
    Ledger.Machine machine =
        BundledLedger.machine(
            new GroupMachine(replica, time, counters, settings.log(), map::offer, raised));
    Ledger ledger =
        new BundledLedger(by.engine.open(number, founder ? founders : List.of(), machine));
    groups.put(
        number,
        new OwnGroup(
            number,
            ledger,
            replica,
            time,
            new GroupLeader(
                ledger, replica, time, counters, settings.maxKeys(), settings.maxBytes()),
            new GroupCalendar(
                number,
                ledger,
                replica,
                time,
                new WallClock(settings.clocks().wall(), settings.maxSkew().toNanos()),
                settings.log()),
            counters));
  }

  @Override
  public void close(int number) throws IOException {
    OwnGroup left = groups.remove(number);
    if (left != null) {
      left.ledger().leave();
    }
  }

  @Nullable
  public OwnGroup get(int number) {
    return groups.get(number);
  }

  @Override
  public @Nullable Ledger ledger(int number) {
    OwnGroup here = groups.get(number);
    return here == null ? null : here.ledger();
  }

  /** Returns all groups in the order of their numbers. */
  public Collection<OwnGroup> all() {
    return groups.values();
  }

  public Map<Integer, Ledger> ledgers() {
    Map<Integer, Ledger> all = new TreeMap<>();
    groups.forEach((number, group) -> all.put(number, group.ledger()));
    return all;
  }

  public boolean leads(int number) {
    Ledger here = ledger(number);
    return here != null && here.leads();
  }

  /** Raises the level in force in the groups that this member leads. */
  public void raise(LevelRaise raise) {
    List<OwnGroup> led = groups.values().stream().filter(each -> each.ledger().leads()).toList();
    OwnGroup zero = led.stream().filter(each -> each.number() == 0).findFirst().orElse(null);
    raise.round(zero, led.stream().filter(each -> each.number() != 0).toList());
  }
}
