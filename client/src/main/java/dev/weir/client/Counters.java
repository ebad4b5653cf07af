package dev.weir.client;

import java.util.concurrent.atomic.LongAdder;

/** What a client counts. Safe for use by many threads. */
final class Counters {
  final LongAdder admittedLocally = new LongAdder();
  final LongAdder refusedLocally = new LongAdder();
  final LongAdder asked = new LongAdder();
  final LongAdder answeredAway = new LongAdder();
  final LongAdder messages = new LongAdder();
  final LongAdder leases = new LongAdder();
  final LongAdder lent = new LongAdder();
  final LongAdder returned = new LongAdder();

  ClientMetrics snapshot(boolean available) {
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
