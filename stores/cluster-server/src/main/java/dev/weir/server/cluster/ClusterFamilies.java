package dev.weir.server.cluster;

import dev.weir.cluster.ClusterMetrics;
import dev.weir.cluster.ClusterMetrics.Counts;
import dev.weir.cluster.ClusterMetrics.GroupMetrics;
import dev.weir.server.internal.metrics.Families;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The metrics of a cluster's member. */
final class ClusterFamilies {
  private ClusterFamilies() {}

  static void add(Families to, ClusterMetrics cluster) {
    List<GroupMetrics> groups = cluster.groups();
    levels(to, groups);
    to.counters(
        "weir_cluster_elections",
        "How often this member has heard of another leader of the group.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::elections);
    to.counters(
        "weir_cluster_refused_early",
        "Operations that this member refused by what its replica says, without the log.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::refusedEarly);
    to.counters(
        "weir_cluster_moved_slots",
        "Slots of keys that the group took over from another one, as this replica has seen.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::movedSlots);
    to.counters(
        "weir_cluster_clock_faults",
        "How often this member, as the leader, began to find its wall clock too far off for the"
            + " group's calendar to follow it.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::clockFaults);
    List<UndecidedCount> undecided = new ArrayList<>();
    for (GroupMetrics group : groups) {
      group
          .undecided()
          .forEach((why, count) -> undecided.add(new UndecidedCount(group, why, count)));
    }
    to.counters(
        "weir_cluster_undecided",
        "Entries that this member did not decide, or whose outcome it does not know, by reason."
            + " After not_leader the sender tries another member; most are answered in the end.",
        undecided,
        each -> Labels.of("group", Integer.toString(each.group().group()), "reason", each.reason()),
        UndecidedCount::count);
    histograms(to, groups);
    to.levels(
        "weir_cluster_peer_rtt_seconds",
        "Time that another member took for its last answer to an empty question, by member; absent"
            + " while it does not answer.",
        cluster.roundTripNanos().entrySet(),
        peer -> Labels.of("peer", peer.getKey()),
        peer -> peer.getValue() / Families.NANOS_PER_SECOND);
  }

  private record UndecidedCount(GroupMetrics group, String reason, long count) {}

  private static Labels group(GroupMetrics group) {
    return Labels.of("group", Integer.toString(group.group()));
  }

  private static void levels(Families to, List<GroupMetrics> groups) {
    to.gauges(
        "weir_cluster_leader",
        "1 while this member leads the group, 0 while it does not.",
        groups,
        ClusterFamilies::group,
        group -> group.leads() ? 1 : 0);
    to.gauges(
        "weir_cluster_term",
        "The group's term: it rises with each election.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::term);
    to.gauges(
        "weir_cluster_log_bytes",
        "What the group's log takes on this member's disk, in bytes.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::logBytes);
    to.gauges(
        "weir_cluster_diverged",
        "1 if this replica has come to other counts than the leader's and answers no more.",
        groups,
        ClusterFamilies::group,
        group -> group.diverged() ? 1 : 0);
    to.gauges(
        "weir_cluster_frozen_slots",
        "Slots of keys that the group has given up and that no other group is known to have yet:"
            + " their keys are answered by on_failure.",
        groups,
        ClusterFamilies::group,
        GroupMetrics::frozenSlots);
    to.levels(
        "weir_cluster_apply_lag_seconds",
        "For how long an entry has been committed that this replica has not decided, to about a"
            + " second; 0 if there is none.",
        groups,
        ClusterFamilies::group,
        group -> group.applyLagNanos() / Families.NANOS_PER_SECOND);
    to.levels(
        "weir_cluster_clock_lag_seconds",
        "How far the group's calendar is behind this machine's wall clock.",
        groups,
        ClusterFamilies::group,
        group -> group.clockLagNanos() / Families.NANOS_PER_SECOND);
  }

  private static void histograms(Families to, List<GroupMetrics> groups) {
    times(
        to,
        "weir_cluster_commit_seconds",
        "Time from when this member, as the leader, appended an entry until a majority had it on"
            + " disk and this member had decided it.",
        groups,
        GroupMetrics::commits);
    times(
        to,
        "weir_cluster_apply_seconds",
        "Time that it took to decide a committed entry.",
        groups,
        GroupMetrics::applies);
    times(
        to,
        "weir_cluster_snapshot_seconds",
        "Time that it took to write an image of all keys, while entries went on to be decided.",
        groups,
        GroupMetrics::snapshots);
    to.histograms(
        "weir_cluster_batch_charges",
        "Charges of the entries that this member was asked to decide.",
        1,
        groups,
        ClusterFamilies::group,
        group -> histogram(group.charges()));
  }

  private static void times(
      Families to,
      String name,
      String help,
      List<GroupMetrics> groups,
      Function<GroupMetrics, Counts> counts) {
    to.histograms(
        name,
        help,
        Families.NANOS_PER_SECOND,
        groups,
        ClusterFamilies::group,
        group -> histogram(counts.apply(group)));
  }

  private static Families.Histogram histogram(Counts counts) {
    return new Families.Histogram(counts.bounds(), counts.counts(), counts.sum());
  }
}
