package dev.weir.cluster.internal.operating;

import dev.weir.cluster.Cluster;
import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.ClusterStatus;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.SlotsStatus;
import dev.weir.cluster.internal.asking.OwnGroup;
import dev.weir.cluster.internal.asking.OwnGroups;
import dev.weir.cluster.internal.forming.Admissions;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.cluster.internal.map.Roster;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.PeerDoor;
import dev.weir.cluster.internal.peer.PeerFrame;
import dev.weir.cluster.internal.peer.PeerTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * The operations that an operator can run by any member of a cluster. They block. Safe for use by
 * many threads.
 */
public final class ClusterOperations {
  private static final int TRANSFER = PeerFrame.FIRST_REQUEST + 22;
  private static final int CALENDAR = PeerFrame.FIRST_REQUEST + 26;
  private static final long TRANSFER_MILLIS = 10_000;

  private final ClusterSettings settings;
  private final OwnGroups groups;
  private final CurrentMap map;
  private final ClusterHealth health;
  private final Admissions admissions;
  private final PeerTransport transport;

  public ClusterOperations(
      ClusterSettings settings,
      OwnGroups groups,
      CurrentMap map,
      ClusterHealth health,
      Admissions admissions,
      PeerTransport transport) {
    this.settings = settings;
    this.groups = groups;
    this.map = map;
    this.health = health;
    this.admissions = admissions;
    this.transport = transport;
  }

  /**
   * Registers the handlers of requests from other members.
   *
   * @param asking runs the receivers of groups' replies
   */
  public void answerAt(PeerDoor door, Executor asking) {
    door.register(TRANSFER, asking, (from, payload) -> transferred(payload));
    door.register(
        CALENDAR,
        asking,
        (from, payload) -> calendarSet(payload).thenApplyAsync(reply -> reply, asking));
  }

  /** Implements {@link Cluster#remove}. */
  public void remove(String name, boolean force) throws IOException {
    String problem = health.status().removal(name, force);
    if (!problem.isEmpty()) {
      throw new IOException(problem);
    }
    done(admissions.remove(name));
  }

  /** Implements {@link Cluster#rebalance}. */
  public List<String> rebalance(boolean dryRun) throws IOException {
    ClusterMap now = map.get();
    ClusterMap next = Roster.rebalanced(now);
    List<String> lines = new ArrayList<>();
    for (int group = 0; group < now.groups(); group++) {
      if (!now.replicas(group).equals(next.replicas(group))) {
        lines.add("group " + group + ": " + now.replicas(group) + " -> " + next.replicas(group));
      }
    }
    if (!dryRun && !lines.isEmpty()) {
      done(admissions.rebalance());
    }
    lines.addAll(SlotsStatus.misplaced(now));
    return lines;
  }

  /** Implements {@link Cluster#raiseGroups}. */
  public void raiseGroups(int number) throws IOException {
    done(admissions.raiseGroups(number));
  }

  /** Implements {@link Cluster#transfer}. */
  public void transfer(int group, String name) throws IOException {
    byte[] what = new ByteWriter().writeNumber(group).writeText(name).toBytes();
    String leader = leader(health.status(), group);
    if (leader.equals(name)) {
      return;
    }
    done(
        leader.equals(settings.name())
            ? transferred(what)
            : transport.link(leader, Cluster.ASKING).call(TRANSFER, what, TRANSFER_MILLIS));
  }

  private static String leader(ClusterStatus status, int group) throws IOException {
    return status.members().stream()
        .flatMap(each -> each.groups().stream())
        .filter(each -> each.group() == group && each.leads())
        .map(GroupStatus::leader)
        .findFirst()
        .orElseThrow(() -> new IOException("group " + group + " has no leader"));
  }

  /** Implements {@link Cluster#setCalendar}. */
  public void setCalendar() throws IOException {
    ClusterStatus now = health.status();
    for (int group = 0; group < now.groups(); group++) {
      byte[] what =
          new ByteWriter().writeNumber(group).writeLong(settings.clocks().wall().nanos()).toBytes();
      String leader = leader(now, group);
      done(
          leader.equals(settings.name())
              ? calendarSet(what)
              : transport.link(leader, Cluster.ASKING).call(CALENDAR, what, TRANSFER_MILLIS));
    }
  }

  private CompletionStage<byte[]> calendarSet(byte[] what) throws IOException {
    ByteReader in = new ByteReader(what, 0);
    OwnGroup here = groups.get((int) in.readNumber());
    if (here == null || !here.ledger().leads()) {
      throw new IOException("another member leads by now");
    }
    return here.calendar().set(in.readLong());
  }

  private CompletionStage<byte[]> transferred(byte[] what) throws IOException {
    ByteReader in = new ByteReader(what, 0);
    Ledger led = groups.ledger((int) in.readNumber());
    String to = in.readText();
    if (led == null || !led.leads()) {
      throw new IOException("another member leads by now");
    }
    if (led.seats().voters().stream().noneMatch(each -> each.name().equals(to))) {
      throw new IOException(to + " does not vote in that group (expected: one that does)");
    }
    led.transfer(to);
    return CompletableFuture.completedStage(new byte[0]);
  }

  private static void done(CompletionStage<?> stage) throws IOException {
    try {
      Object unused = stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw new IOException(
          String.valueOf((e.getCause() == null ? e : e.getCause()).getMessage()), e);
    }
  }
}
