package dev.weir.stress;

import dev.weir.Binding;
import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import java.time.Duration;

/** A key with one seat. */
class OneSeat {
  private static final long KEY = 7;

  private final MemoryStore store = new MemoryStore(1_000, 1 << 20);
  private final Binding seats =
      store.bind("seats", Policy.concurrency(1, Duration.ofSeconds(1)).build(), 0);

  /** Takes the seat, or is refused. */
  Decision take() {
    return store.decision(seats, KEY, 1, 0);
  }

  /** Gives a seat back; returns whether it was out. */
  boolean release(Decision taken) {
    return store.refund(seats, KEY, 1, taken, 0) == 1;
  }
}
