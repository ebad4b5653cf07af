package dev.weir.cluster.sim;

import dev.weir.Consistency;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.Placement;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.sim.SimHistory.Applied;
import dev.weir.cluster.sim.SimHistory.Check;
import dev.weir.cluster.sim.SimHistory.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The calendars of groups in the logs, and a check that windows followed them. */
final class SimCalendars {
  private final SimHistory history;
  private final SimOwners owners;

  /** The offset of the calendar after an instant of the log, for each group. */
  private final Map<Integer, TreeMap<Long, Long>> offsets = new HashMap<>();

  SimCalendars(SimHistory history, SimOwners owners) {
    this.history = history;
    this.owners = owners;
  }

  /**
   * Checks an entry that steps a calendar, in the order of its group's log: ahead only, and by a
   * little, or by hand.
   */
  void entry(int group, Applied applied, byte[] entry, byte[] reply) {
    TreeMap<Long, Long> steps = offsets.computeIfAbsent(group, key -> new TreeMap<>());
    ByteReader in = new ByteReader(reply, 0);
    long now = in.readLong();
    long next = in.readLong();
    long offset = steps.isEmpty() ? 0 : steps.lastEntry().getValue();
    boolean byHand =
        history.setByHand.contains(new ByteReader(entry, Ledger.STAMP_BYTES + 1).readLong());
    history.count("steps of calendars", next > offset ? 1 : 0);
    if (next < offset) {
      history.violation(Kind.CALENDAR_GOES_BACK, "group " + group + ": " + (offset - next));
    }
    if (!byHand && next - offset > SimMember.MOST_SKEW_NANOS) {
      history.violation(
          Kind.CALENDAR_LEAPS,
          "group " + group + " entry " + applied.item().index() + ": " + (next - offset) + " ns");
    }
    steps.put(now, next);
  }

  /**
   * Checks that no window of the calendar holds more than the limit, however the calendar was
   * stepped. Slots that moved had several calendars, and are not checked.
   */
  void windows(SimRule rule) {
    if (!rule.algorithm.aligned() || rule.consistency == Consistency.APPROXIMATE) {
      return;
    }
    Map<String, Long> sums = new HashMap<>();
    for (Check each : history.checks()) {
      int slot = Placement.slot(each.fingerprint);
      boolean counts = each.allowed && !each.refunded && each.waitNanos == 0;
      if (each.rule == rule && counts && !owners.moved(slot)) {
        Map.Entry<Long, Long> step =
            offsets
                .getOrDefault(history.map().groupOfSlot(slot), new TreeMap<>())
                .lowerEntry(each.atNanos);
        long shown = each.atNanos + (step == null ? 0 : step.getValue());
        String window = each.fingerprint + " " + Math.floorDiv(shown, rule.windowNanos);
        long sum = sums.merge(window, each.permits, Long::sum);
        if (sum > rule.mostPermits()) {
          history.violation(Kind.EXCESS, rule.name + ": window " + window + " holds " + sum);
          return;
        }
      }
    }
    history.count("windows of calendars", sums.size());
  }

  /**
   * Returns how many windows more than one a time of that length may hold because of steps in it,
   * of all calendars that a key can have had.
   */
  long passedOver(long windowNanos) {
    return offsets.values().stream().mapToLong(each -> passedOver(each, windowNanos)).sum();
  }

  private static long passedOver(NavigableMap<Long, Long> steps, long windowNanos) {
    long most = 0;
    for (long from : steps.keySet()) {
      Map.Entry<Long, Long> before = steps.lowerEntry(from);
      long offset = before == null ? 0 : before.getValue();
      long windows = 0;
      for (long next : steps.subMap(from, true, from + windowNanos, true).values()) {
        windows += Math.min(2, -Math.floorDiv(offset - next, windowNanos));
        offset = next;
      }
      most = Math.max(most, windows);
    }
    return most;
  }
}
