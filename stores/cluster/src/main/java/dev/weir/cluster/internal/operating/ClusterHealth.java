package dev.weir.cluster.internal.operating;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.MemberStatus;
import dev.weir.cluster.SlotsStatus;
import dev.weir.cluster.internal.asking.OwnGroup;
import dev.weir.cluster.internal.asking.OwnGroups;
import dev.weir.cluster.internal.forming.DnsSeeds;
import dev.weir.cluster.internal.forming.MemberNetwork;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerException;
import dev.weir.cluster.internal.peer.PeerFrame;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The status of members: of this one by its own state, and of the others by requests. Safe for use
 * by many threads.
 */
public final class ClusterHealth {
  private static final int KIND = PeerFrame.FIRST_REQUEST + 18;
  private static final long STATUS_MILLIS = 1_000;

  private final ClusterSettings settings;
  private final MemberFolder folder;
  private final Supplier<@Nullable Charter> charter;
  private final OwnGroups groups;
  private final CurrentMap map;
  private final MemberNetwork network;

  /**
   * Creates the status.
   *
   * @param charter returns the cluster's, or null before it is formed
   */
  public ClusterHealth(
      ClusterSettings settings,
      MemberFolder folder,
      Supplier<@Nullable Charter> charter,
      OwnGroups groups,
      CurrentMap map,
      MemberNetwork network) {
    this.settings = settings;
    this.folder = folder;
    this.charter = charter;
    this.groups = groups;
    this.map = map;
    this.network = network;
  }

  /** Registers the handler of requests from other members. */
  public void answerAt(Executor executor) {
    network
        .door()
        .register(
            KIND, executor, (from, payload) -> CompletableFuture.completedStage(own().toBytes()));
  }

  /** Returns this member's own status. */
  private MemberStatus own() {
    return new MemberStatus(
        settings.name(),
        folder.incarnation().toString(),
        settings.zone(),
        charter.get() != null,
        problem(),
        groups.all().stream().map(OwnGroup::status).toList(),
        folder.level().able().most(),
        network.door().older());
  }

  private String problem() {
    return groups.all().stream()
        .map(each -> each.counters().problem())
        .filter(each -> !each.isEmpty())
        .findFirst()
        .orElse(
            folder.room().low()
                ? "its disk is nearly full"
                : Objects.requireNonNullElse(folder.level().refusal(), ""));
  }

  /** Requests the status of all members; those that do not answer within a second are down. */
  public ClusterStatus status() {
    ClusterMap known = map.epoch() == 0 ? null : map.get();
    List<Member> every = known == null ? DnsSeeds.named(settings.members()) : known.members();
    List<CompletableFuture<MemberStatus>> asked = new ArrayList<>();
    for (Member each : every) {
      MemberStatus down =
          new MemberStatus(
              each.name(),
              each.incarnation().toString(),
              each.zone(),
              false,
              "",
              List.of(),
              0,
              Map.of());
      asked.add(
          status(each.name())
              .toCompletableFuture()
              .completeOnTimeout(down, STATUS_MILLIS, TimeUnit.MILLISECONDS)
              .exceptionally(error -> down));
    }
    Charter formed = charter.get();
    return new ClusterStatus(
        formed == null ? "" : formed.cluster().toString(),
        settings.name(),
        map.epoch(),
        known == null ? folder.level().inForce() : known.level(),
        known == null ? Collections.nCopies(settings.groups(), List.of()) : known.replicas(),
        known == null ? SlotsStatus.before(settings.groups()) : SlotsStatus.of(known),
        asked.stream().map(CompletableFuture::join).toList());
  }

  /** Requests the status of one member. */
  public CompletionStage<MemberStatus> status(String member) {
    if (member.equals(settings.name())) {
      return CompletableFuture.completedStage(own());
    }
    try {
      return network
          .transport()
          .link(member, Cluster.ASKING)
          .call(KIND, new byte[0], STATUS_MILLIS)
          .thenApply(MemberStatus::read);
    } catch (PeerException e) {
      return CompletableFuture.failedStage(e);
    }
  }
}
