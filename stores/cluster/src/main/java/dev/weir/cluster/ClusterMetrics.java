package dev.weir.cluster;

import java.util.List;
import java.util.Map;

/**
 * A snapshot of a member's counters since its start. Immutable.
 *
 * @param groups those of which this member has a replica
 * @param roundTripNanos the time of the last answered request to each other member; a member that
 *     does not answer is missing
 */
public record ClusterMetrics(List<GroupMetrics> groups, Map<String, Long> roundTripNanos) {
  /**
   * A histogram.
   *
   * @param bounds ascending
   * @param counts the number of values that are at most the bound of the same index and more than
   *     the one before; one element more than the bounds, for values beyond
   * @param sum of all
   */
  public record Counts(List<Long> bounds, List<Long> counts, long sum) {
    public Counts {
      bounds = List.copyOf(bounds);
      counts = List.copyOf(counts);
    }
  }

  /**
   * A group's log and this member's replica of it.
   *
   * @param leads whether this member takes itself for the leader
   * @param logBytes the size of the log on disk
   * @param commits the times from appending an entry at this member, as the leader, until a
   *     majority had it on disk and this member had decided it; nanoseconds
   * @param applies the times that it took to decide a committed entry; nanoseconds
   * @param snapshots the times that it took to write an image of all keys, while further entries
   *     were decided; nanoseconds
   * @param charges the numbers of charges in the entries that this member received to decide
   * @param applyLagNanos the time since the oldest entry was committed that this replica has not
   *     decided; 0 if there is none
   * @param clockLagNanos the time by which the group's calendar is behind this machine's wall clock
   * @param clockFaults the number of times that this member, as the leader, found its wall clock
   *     too far off for the calendar to follow it
   * @param elections the number of times that this member noticed another leader
   * @param refusedEarly operations that this member refused by its replica's state, without the log
   * @param undecided entries that this member did not decide, or whose outcome it does not know, by
   *     reason: {@code not_leader}, after which the sender tries another member, {@code
   *     overloaded}, {@code unknown}
   * @param diverged whether this replica has come to other counts than the leader's
   * @param movedSlots the number of slots that the group took over from others, as this replica has
   *     seen
   * @param frozenSlots the number of slots that it has given up and that no other group is known to
   *     have yet
   */
  public record GroupMetrics(
      int group,
      boolean leads,
      long term,
      long logBytes,
      Counts commits,
      Counts applies,
      Counts snapshots,
      Counts charges,
      long applyLagNanos,
      long clockLagNanos,
      long clockFaults,
      long elections,
      long refusedEarly,
      Map<String, Long> undecided,
      boolean diverged,
      long movedSlots,
      int frozenSlots) {
    public GroupMetrics {
      undecided = Map.copyOf(undecided);
    }
  }

  public ClusterMetrics {
    groups = List.copyOf(groups);
    roundTripNanos = Map.copyOf(roundTripNanos);
  }
}
