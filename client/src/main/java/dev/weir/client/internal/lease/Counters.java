package dev.weir.client.internal.lease;

import dev.weir.client.ClientMetrics;
import java.util.concurrent.atomic.LongAdder;

/** The counters of one client. Safe for use by many threads. */
public final class Counters {
  public final LongAdder admittedLocally = new LongAdder();
  public final LongAdder refusedLocally = new LongAdder();
  public final LongAdder asked = new LongAdder();
  final LongAdder answeredAway = new LongAdder();
  public final LongAdder messages = new LongAdder();
  final LongAdder leases = new LongAdder();
  final LongAdder lent = new LongAdder();
  public final LongAdder returned = new LongAdder();

  public ClientMetrics snapshot(boolean available) {
    return new ClientMetrics(
        admittedLocally.sum(),
        refusedLocally.sum(),
        asked.sum(),
        answeredAway.sum(),
        messages.sum(),
        leases.sum(),
        lent.sum(),
        returned.sum(),
        available);
  }
}
