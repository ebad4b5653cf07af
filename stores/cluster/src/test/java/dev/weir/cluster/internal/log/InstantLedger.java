package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.log.LedgerException.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A log of one member, which applies an entry at once, on the thread that appends it. */
public final class InstantLedger implements FixedLedger {
  /** The appended entries, with their stamps. */
  public final List<byte[]> entries = new ArrayList<>();

  public boolean leads = true;
  private final Machine machine;
  private final boolean stamps;
  private long index;

  /**
   * Creates a log.
   *
   * @param stamps whether it stamps entries; otherwise the caller has done that
   */
  public InstantLedger(Machine machine, boolean stamps) {
    this.machine = machine;
    this.stamps = stamps;
  }

  @Override
  public synchronized CompletionStage<byte[]> append(byte[] entry) {
    if (!leads) {
      return CompletableFuture.failedStage(
          new LedgerException(Outcome.NOT_LEADER, leader(), "this one does not lead"));
    }
    if (stamps) {
      machine.stamp(1, entry);
    }
    entries.add(entry.clone());
    return CompletableFuture.completedStage(machine.apply(++index, 1, entry));
  }

  @Override
  public String leader() {
    return leads ? "a" : "b";
  }

  @Override
  public boolean leads() {
    return leads;
  }

  @Override
  public Status status() {
    return new Status(leader(), 1, index, index);
  }

  @Override
  public void transfer(@Nullable String member) {}

  @Override
  public void close() {}
}
