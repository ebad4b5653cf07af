package dev.weir.cluster.internal.asking;

import dev.weir.Policy;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterPolicy;
import dev.weir.shared.Caller;
import dev.weir.shared.Link;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.StoreSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A link from one server to the groups of a cluster. Safe for use by many threads. */
public final class ClusterLink implements Link {
  private final Supplier<ClusterMap> map;
  private final Runnable refresh;
  private final Route route;
  private volatile List<Caller> callers = List.of();
  private final StoreSettings settings;
  private final Runnable closing;

  /**
   * Creates a link.
   *
   * @param map the newest that is known here; read at each decision
   * @param refresh is run when a newer one may be in force
   * @param closing is run when this is closed
   */
  public ClusterLink(
      Supplier<ClusterMap> map,
      Runnable refresh,
      Route route,
      StoreSettings settings,
      Runnable closing) {
    this.map = map;
    this.refresh = refresh;
    this.route = route;
    this.settings = settings;
    this.closing = closing;
    grow(map.get().groups());
  }

  private synchronized List<Caller> grow(int groups) {
    if (callers.size() < groups) {
      List<Caller> more = new ArrayList<>(callers);
      for (int group = callers.size(); group < groups; group++) {
        more.add(new Caller(new GroupShard(group, map, route), settings));
      }
      callers = List.copyOf(more);
    }
    return callers;
  }

  @Override
  public PolicyCode code(String name, Policy policy) {
    return ClusterPolicy.of(name, policy);
  }

  @Override
  public PolicyCode variant(PolicyCode code, Policy policy) {
    return ((ClusterPolicy) code).variant(policy);
  }

  /** Returns whether all members know seats: one that does not may lead any group. */
  @Override
  public boolean countsSeats() {
    return map.get().level() >= Levels.SEATS;
  }

  @Override
  public Caller caller(SharedBinding binding, long fingerprint) {
    int group = map.get().group(fingerprint);
    List<Caller> known = callers;
    return (group < known.size() ? known : grow(group + 1)).get(group);
  }

  @Override
  public void moved() {
    refresh.run();
  }

  @Override
  public boolean oneSlot() {
    return map.get().groups() == 1;
  }

  /** Returns the group of a key: keys of one group are decided in one step. */
  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return map.get().group(fingerprint);
  }

  @Override
  public void tick() {
    // Groups are probed before they have any keys.
    grow(map.get().groups()).forEach(Caller::tick);
  }

  /** Returns whether no operation waits, and all groups answered the last time. */
  @Override
  public boolean idle() {
    for (Caller each : callers) {
      if (!each.idle() || !each.available()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean available() {
    return inUse().allMatch(Caller::available);
  }

  /** Returns the callers of the groups that have keys. */
  private Stream<Caller> inUse() {
    ClusterMap known = map.get();
    List<Caller> all = callers;
    return IntStream.range(0, all.size()).filter(known::hasSlots).mapToObj(all::get);
  }

  @Override
  public String problem() {
    return inUse().map(Caller::problem).filter(each -> !each.isEmpty()).findFirst().orElse("");
  }

  @Override
  public long queued() {
    return callers.stream().mapToLong(Caller::queued).sum();
  }

  @Override
  public void close() {
    Caller.closeAll(callers, settings.timeoutNanos());
    closing.run();
  }
}
