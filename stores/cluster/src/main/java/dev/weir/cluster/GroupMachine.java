package dev.weir.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** What the entries of a group's log are for: its replica, and its time. */
final class GroupMachine implements Ledger.Machine {
  private static final byte[] SENSELESS = {};

  private final Replica replica;
  private final ClusterTime time;
  private final Consumer<? super String> log;

  GroupMachine(Replica replica, ClusterTime time, Consumer<? super String> log) {
    this.replica = replica;
    this.time = time;
    this.log = log;
  }

  @Override
  public void stamp(long term, byte[] entry) {
    Entry.stamp(entry, time.stamp(term));
  }

  @Override
  public byte[] apply(long index, long term, byte[] entry) {
    boolean diverged = replica.diverged();
    byte[] reply;
    try {
      reply = replica.apply(index, entry);
    } catch (IllegalArgumentException e) {
      // Every replica finds the same; who asked finds it when it reads the reply.
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
    return reply;
  }

  @Override
  public CompletionStage<?> image(Path file) throws IOException {
    return replica.image(file);
  }

  @Override
  public void restore(Path file) throws IOException {
    replica.restore(file);
  }
}
