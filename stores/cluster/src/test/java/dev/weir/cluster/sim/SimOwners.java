package dev.weir.cluster.sim;

import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.state.GroupSlots.Phase;
import dev.weir.cluster.internal.state.SlotEntry;
import dev.weir.cluster.internal.state.SlotEntry.State;
import dev.weir.cluster.sim.SimHistory.Applied;
import dev.weir.cluster.sim.SimHistory.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The groups that decided each slot over time, by the logs. */
final class SimOwners {
  private final SimHistory history;
  private final Map<Integer, List<Span>> spans = new TreeMap<>();
  private final Map<Integer, Map<Integer, Span>> open = new HashMap<>();

  /**
   * A time in which a group decided a slot under one epoch.
   *
   * @param fromNanos the real time at which the entry was stamped that began it
   * @param toNanos that of the entry that ended it
   */
  private record Span(int group, long epoch, long fromNanos, long toNanos) {
    Span until(long nanos) {
      return new Span(group, epoch, fromNanos, nanos);
    }
  }

  SimOwners(SimHistory history) {
    this.history = history;
  }

  /** Notes an entry about a slot, in the order of its group's log. */
  void entry(int group, Applied applied, byte[] entry, byte[] reply) {
    SlotEntry of = SlotEntry.read(new ByteReader(entry, Ledger.STAMP_BYTES + 1));
    State state = State.read(reply);
    long now = applied.item().stampedAtNanos();
    Map<Integer, Span> ofSlot = open.computeIfAbsent(of.slot(), this::first);
    Span before = ofSlot.get(group);
    boolean owns = state.phase() == Phase.OWNED;
    if (before != null && (!owns || before.epoch != state.epoch())) {
      ofSlot.remove(group);
      end(of.slot(), before.until(now));
    }
    if (owns && !ofSlot.containsKey(group)) {
      ofSlot.put(group, new Span(group, state.epoch(), now, Long.MAX_VALUE));
    }
  }

  private Map<Integer, Span> first(int slot) {
    Map<Integer, Span> one = new HashMap<>();
    int owner = history.map().groupOfSlot(slot);
    one.put(owner, new Span(owner, 0, Long.MIN_VALUE, Long.MAX_VALUE));
    return one;
  }

  private void end(int slot, Span span) {
    spans.computeIfAbsent(slot, key -> new ArrayList<>()).add(span);
  }

  /** Returns whether a slot ever moved. */
  boolean moved(int slot) {
    return open.containsKey(slot);
  }

  /**
   * Checks that one group at a time decided each slot, one under each epoch, and in the end the one
   * in the map.
   */
  void check(ClusterMap last) {
    open.forEach(
        (slot, owners) -> {
          owners.values().forEach(each -> end(slot, each));
          boolean one = owners.size() == 1 && owners.containsKey(last.groupOfSlot(slot));
          if (!one && last.move(slot) == null) {
            history.violation(
                Kind.OWNERS, "slot " + slot + ": " + owners + " of " + last.groupOfSlot(slot));
          }
        });
    spans.forEach(this::check);
  }

  private void check(int slot, List<Span> all) {
    all.sort(Comparator.comparingLong(Span::fromNanos));
    Map<Long, Integer> byEpoch = new HashMap<>();
    for (int i = 0; i < all.size(); i++) {
      Span each = all.get(i);
      Integer other = byEpoch.putIfAbsent(each.epoch, each.group);
      boolean overlaps = i > 0 && each.fromNanos < all.get(i - 1).toNanos;
      if (overlaps || (other != null && other != each.group)) {
        history.violation(Kind.OWNERS, "slot " + slot + ": " + all);
        return;
      }
    }
    history.count(
        "slots that had several groups", byEpoch.values().stream().distinct().count() - 1);
  }
}
