package dev.weir.grpc;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import java.util.function.Consumer;

/** A store that cannot decide, and may be called again in a quarter of a second. */
final class AwayStore extends ForwardingStore<MemoryStore> {
  AwayStore() {
    super(new MemoryStore());
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    for (int i = 0; i < charges.size(); i++) {
      charges.result(i, Reason.UNCERTAIN, 0, 250_000_000L, 0, nowNanos);
    }
    charges.settle();
    done.accept(charges);
  }
}
