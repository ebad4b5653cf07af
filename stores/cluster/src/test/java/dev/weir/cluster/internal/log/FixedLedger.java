package dev.weir.cluster.internal.log;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A log whose members stay the same, and of which no snapshot is taken. */
public interface FixedLedger extends Ledger {
  @Override
  default Seats seats() {
    return Seats.NONE;
  }

  @Override
  default void seat(Seats next) {
    throw new IllegalStateException("members do not change here");
  }

  @Override
  default void leave() {
    throw new IllegalStateException("members do not change here");
  }

  @Override
  default CompletionStage<Snapshot> snapshot() {
    return CompletableFuture.failedStage(new IllegalStateException("no snapshot is needed"));
  }
}
