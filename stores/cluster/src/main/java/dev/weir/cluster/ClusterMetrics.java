package dev.weir.cluster;

import java.util.List;
import java.util.Map;

/**
 * What this member has counted since it began; a snapshot. Immutable.
 *
 * @param groups those of which this member has a replica
 * @param roundTripNanos how long the last question to each other member took that was answered; a
 *     member that does not answer is not in it
 */
public record ClusterMetrics(List<GroupMetrics> groups, Map<String, Long> roundTripNanos) {
  /**
   * A histogram.
   *
   * @param bounds ascending
   * @param counts how many were at most the bound of the same index and more than the one before;
   *     one element more than the bounds, for those beyond
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
   * @param logBytes what the log takes on disk
   * @param commits how long entries took from when this member appended them, as the leader, until
   *     a majority had them on disk and this member had decided them; nanoseconds
   * @param applies how long it took to decide an entry that is committed; nanoseconds
   * @param snapshots how long it took to write an image of all keys, while entries went on to be
   *     decided; nanoseconds
   * @param charges how many charges the entries had that this member was asked to decide
   * @param applyLagNanos for how long the oldest entry has been committed that this replica has not
   *     decided; 0 if there is none
   * @param clockLagNanos how far the group's calendar is behind this machine's wall clock
   * @param clockFaults how often this member led the group and began to find its wall clock too far
   *     off for the calendar to follow it
   * @param elections how often this member has heard of another leader
   * @param refusedEarly operations that this member refused by what its replica says, without the
   *     log
   * @param uncertain entries that this member was asked to decide and did not, or of which it does
   *     not know, by reason: {@code not_leader}, {@code overloaded}, {@code unknown}
   * @param diverged whether this replica has come to other counts than the leader's
   * @param movedSlots how many slots of keys the group took over from another one, as this replica
   *     has seen
   * @param frozenSlots how many it has given up that no other group is known to have yet
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
      Map<String, Long> uncertain,
      boolean diverged,
      long movedSlots,
      int frozenSlots) {
    public GroupMetrics {
      uncertain = Map.copyOf(uncertain);
    }
  }

  public ClusterMetrics {
    groups = List.copyOf(groups);
    roundTripNanos = Map.copyOf(roundTripNanos);
  }
}
