package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.operating.GroupCounters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The state machine that applies the entries of a group's log to its replica and its time. */
public final class GroupMachine implements Ledger.Machine {
  private static final byte[] SENSELESS = {};

  private final Replica replica;
  private final ClusterTime time;
  private final GroupCounters counters;
  private final Consumer<? super String> log;
  private final Consumer<? super ClusterMap> mapped;
  private final IntConsumer levelled;

  public GroupMachine(
      Replica replica, ClusterTime time, GroupCounters counters, Consumer<? super String> log) {
    this(replica, time, counters, log, map -> {});
  }

  /** Creates a machine whose level no other part needs. */
  public GroupMachine(
      Replica replica,
      ClusterTime time,
      GroupCounters counters,
      Consumer<? super String> log,
      Consumer<? super ClusterMap> mapped) {
    this(replica, time, counters, log, mapped, level -> {});
  }

  /**
   * Creates a machine.
   *
   * @param mapped receives the map of group 0 when it may have changed; must not block
   * @param levelled receives the group's level when it may have been raised; must not block
   */
  public GroupMachine(
      Replica replica,
      ClusterTime time,
      GroupCounters counters,
      Consumer<? super String> log,
      Consumer<? super ClusterMap> mapped,
      IntConsumer levelled) {
    this.replica = replica;
    this.time = time;
    this.counters = counters;
    this.log = log;
    this.mapped = mapped;
    this.levelled = levelled;
  }

  @Override
  public void stamp(long term, byte[] entry) {
    Entry.stamp(entry, time.stamp(term));
  }

  @Override
  public byte[] apply(long index, long term, byte[] entry) {
    long begun = counters.begin();
    boolean diverged = replica.diverged();
    ClusterMap before = replica.map();
    int levelBefore = replica.level();
    byte[] reply;
    try {
      reply = replica.apply(index, entry);
    } catch (IllegalArgumentException e) {
      // Every replica finds the same; the caller finds it when it reads the reply.
      log.accept("cluster: entry " + index + " makes no sense: " + e.getMessage());
      reply = SENSELESS;
    }
    if (!diverged && replica.diverged()) {
      log.accept(
          "cluster: entry "
              + index
              + ": this member has come to other counts than the leader, and answers no more;"
              + " start it again, so that it counts anew from its log; report this, please");
    }
    counters.applied(begun);
    if (replica.level() > levelBefore) {
      levelled.accept(replica.level());
    }
    report(before);
    return reply;
  }

  private void report(@Nullable ClusterMap before) {
    ClusterMap map = replica.map();
    if (map != null && (before == null || map.epoch() != before.epoch())) {
      mapped.accept(map);
    }
  }

  @Override
  public CompletionStage<?> image(Path file) throws IOException {
    long begun = counters.begin();
    return replica.image(file).thenRun(() -> counters.imaged(begun));
  }

  @Override
  public void elected(String leader) {
    counters.elected();
  }

  @Override
  public void stopped(String why) {
    counters.stopped(why);
  }

  @Override
  public void restore(Path file) throws IOException {
    replica.restore(file);
    levelled.accept(replica.level());
    report(null);
  }
}
