package dev.weir.cluster;

import dev.weir.Policy;
import dev.weir.shared.Caller;
import dev.weir.shared.Link;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.StoreSettings;
import java.util.ArrayList;
import java.util.List;

/** The way from one server to the groups of a cluster. Safe for use by many threads. */
final class ClusterLink implements Link {
  private final Placement placement;
  private final List<Caller> callers = new ArrayList<>();
  private final StoreSettings settings;
  private final Runnable closing;

  /**
   * @param members the names of those that may lead
   * @param closing is run when this is closed
   */
  ClusterLink(
      Placement placement,
      List<String> members,
      Route route,
      StoreSettings settings,
      Runnable closing) {
    this.placement = placement;
    this.settings = settings;
    this.closing = closing;
    for (int group = 0; group < placement.size(); group++) {
      callers.add(new Caller(new GroupShard(group, members, route), settings));
    }
  }

  @Override
  public PolicyCode code(String name, Policy policy) {
    return ClusterPolicy.of(name, policy);
  }

  @Override
  public PolicyCode variant(PolicyCode code, Policy policy) {
    return ((ClusterPolicy) code).variant(policy);
  }

  @Override
  public Caller caller(SharedBinding binding, long fingerprint) {
    return callers.get(placement.group(fingerprint));
  }

  @Override
  public boolean oneSlot() {
    return callers.size() == 1;
  }

  /** Returns the group of a key: what is in one group is decided in one step. */
  @Override
  public int slot(SharedBinding binding, long fingerprint) {
    return placement.group(fingerprint);
  }

  @Override
  public void tick() {
    callers.forEach(Caller::tick);
  }

  @Override
  public boolean available() {
    return callers.stream().allMatch(Caller::available);
  }

  @Override
  public String problem() {
    return callers.stream()
        .map(Caller::problem)
        .filter(each -> !each.isEmpty())
        .findFirst()
        .orElse("");
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
