package dev.weir.cluster;

import dev.weir.Fingerprint;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.cluster.internal.asking.ClusterLink;
import dev.weir.cluster.internal.asking.Route;
import dev.weir.cluster.internal.log.InstantLedger;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Maps;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.StoreSettings;
import dev.weir.testkit.StoreKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A cluster of one member in this process, which applies at once and by the callers' clock: the
 * parts between a store and its replicas must not change any answer.
 */
final class LoneCluster {
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(5, 6);
  private static final long TIMEOUT_NANOS = 10 * Policies.SECOND;

  private LoneCluster() {}

  /** Returns the kind of store, with that many groups. */
  static StoreKind kind(int groups) {
    return StoreKind.of(() -> open(groups))
        .withTime(Policies.MICRO, Long.MAX_VALUE)
        .exactly()
        .withEffort(0.05)
        .withoutCounts();
  }

  private static Store open(int groups) {
    StoreSettings settings =
        new StoreSettings(
            "cluster",
            TIMEOUT_NANOS,
            new Clocks(Ticker.system(), Ticker.wall()),
            true,
            line -> {},
            line -> {},
            new Counters());
    List<Ledger> ledgers = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      CallersTime machine = new CallersTime();
      byte[] unused = machine.apply(0, 0, Entry.level(Levels.SEATS));
      ledgers.add(new InstantLedger(machine, false));
    }
    Route route = (member, group, entry) -> ledgers.get(group).append(entry);
    ClusterMap map = Maps.of(groups, "a").at(Levels.SEATS);
    ClusterLink link = new ClusterLink(() -> map, () -> {}, route, settings, () -> {});
    ClusterStore store = new ClusterStore(settings, link, FINGERPRINT);
    while (!store.available()) {
      Thread.onSpinWait();
    }
    return store;
  }

  /**
   * A machine that decides each entry at its own stamp, even if that is before an earlier one's.
   */
  private static final class CallersTime implements Ledger.Machine {
    private final ClusterTime time = new ClusterTime(Ticker.system());
    private final Replica replica = new Replica(FINGERPRINT, time, Runnable::run, line -> {});

    @Override
    public void stamp(long term, byte[] entry) {
      throw new IllegalStateException("stamped by the caller");
    }

    @Override
    public byte[] apply(long index, long term, byte[] entry) {
      time.restore(new ByteReader(entry, 0).readLong());
      return replica.apply(index, entry);
    }

    @Override
    public CompletionStage<?> image(Path file) {
      return CompletableFuture.failedStage(new IllegalStateException("no image is needed"));
    }

    @Override
    public void restore(Path file) {}
  }
}
