package dev.weir.cluster.sim;

import dev.weir.Binding;
import dev.weir.cluster.ClusterStore;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.asking.ClusterLink;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.map.CurrentMap;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Housekeeping;
import dev.weir.shared.StoreSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A server that calls the cluster: a machine with a real {@link ClusterStore}. */
final class SimServer {
  static final long TIMEOUT_NANOS = 100 * Policies.MILLI;

  final SimNode node;
  private final SimCluster cluster;
  private final Map<SimRule, Binding> bindings = new HashMap<>();
  private @Nullable ClusterStore store;
  private CurrentMap map;

  SimServer(SimNode node, SimCluster cluster) {
    this.node = node;
    this.cluster = cluster;
    map = newMap();
    open();
  }

  private CurrentMap newMap() {
    CurrentMap fresh =
        new CurrentMap(
            node.name, (member, known) -> cluster.askMap(node, member, known), unused -> {});
    fresh.offer(cluster.first);
    return fresh;
  }

  private void open() {
    boolean wallOnly = cluster.defect == Defect.WALL_CLOCK_ALLOTMENTS;
    Clocks clocks = new Clocks(wallOnly ? node.wall() : node.monotonic(), node.wall());
    StoreSettings settings =
        new StoreSettings(
            "sim", TIMEOUT_NANOS, clocks, false, line -> {}, line -> {}, new Counters());
    ClusterLink link = new ClusterLink(map, map::refresh, this::send, settings, () -> {});
    store = new ClusterStore(settings, link, SimCluster.FINGERPRINT, new Ticks());
    poll();
    bindings.clear();
  }

  private void poll() {
    map.poll();
    node.run(Policies.SECOND, this::poll);
  }

  /** Housekeeping in virtual time. */
  private final class Ticks implements Housekeeping {
    private @Nullable LongSupplier task;
    private int waking;

    @Override
    public void repeat(LongSupplier repeated) {
      task = repeated;
      wake();
    }

    @Override
    public void wake() {
      after(0, ++waking);
    }

    private void after(long nanos, int of) {
      node.run(
          nanos,
          () -> {
            if (of == waking) {
              after(Objects.requireNonNull(task).getAsLong(), of);
            }
          });
    }

    @Override
    public void close() {}
  }

  ClusterStore store() {
    return Objects.requireNonNull(store);
  }

  Binding binding(SimRule rule) {
    return bindings.computeIfAbsent(
        rule, each -> store().bind(each.name, each.policy(), node.monotonic().nanos()));
  }

  /** Puts a rule's present number in force here. */
  void renew(SimRule rule, boolean retires) {
    if (bindings.remove(rule) != null && retires) {
      store().retire(rule.name, node.monotonic().nanos());
    }
  }

  /** Crashes, and starts again with nothing. */
  void restart() {
    node.crash();
    node.start();
    map = newMap();
    open();
  }

  private CompletionStage<byte[]> send(String member, int group, byte[] entry) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    send(member, group, entry, answer);
    if (cluster.defect == Defect.RETRIED_CHECK) {
      node.run(
          TIMEOUT_NANOS / 10,
          () -> {
            if (!answer.isDone()) {
              send(member, group, entry, answer);
            }
          });
    }
    return answer;
  }

  private void send(String name, int group, byte[] entry, CompletableFuture<byte[]> answer) {
    SimMember member = cluster.member(name);
    if (!member.node.up() && cluster.scheduler.random.nextBoolean()) {
      // The connection is refused, or it is gone, so that the outcome is not known.
      LedgerException.Outcome outcome =
          cluster.scheduler.random.nextBoolean()
              ? LedgerException.Outcome.NOT_LEADER
              : LedgerException.Outcome.UNKNOWN;
      node.run(
          Policies.MILLI,
          () -> answer.completeExceptionally(new LedgerException(outcome, null, "no connection")));
      return;
    }
    byte[] sent = entry.clone();
    ClusterStore asking = store();
    cluster.net.send(node, member.node, () -> decide(member, group, sent, asking, answer));
  }

  private static CompletionStage<byte[]> asked(SimMember member, int group, byte[] entry) {
    try {
      return member.send(group, entry);
    } catch (IllegalArgumentException e) { // An invalid entry is refused.
      return CompletableFuture.failedStage(e);
    }
  }

  private void decide(
      SimMember member,
      int group,
      byte[] entry,
      ClusterStore asking,
      CompletableFuture<byte[]> answer) {
    asked(member, group, entry)
        .whenComplete(
            (reply, error) -> {
              long epoch = member.map().epoch();
              cluster.net.send(
                  member.node,
                  node,
                  () -> {
                    if (asking != store) {
                      return; // Sent before a restart.
                    }
                    map.epochSeen(member.node.name, epoch);
                    if (reply != null) {
                      answer.complete(reply);
                    } else {
                      answer.completeExceptionally(error);
                    }
                  });
            });
  }
}
