package dev.weir.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What a door counts. Safe for use by many threads. */
final class DoorCounters {
  private final int maxConnections;
  private final AtomicInteger connections = new AtomicInteger();
  private final LongAdder refusedConnections = new LongAdder();
  private final LongAdder timedOutConnections = new LongAdder();

  DoorCounters(int maxConnections) {
    this.maxConnections = maxConnections;
  }

  /** Counts a new connection; returns whether there is room for it. It is to be closed anyway. */
  boolean opened() {
    if (connections.incrementAndGet() <= maxConnections) {
      return true;
    }
    refusedConnections.increment();
    return false;
  }

  void closed() {
    connections.decrementAndGet();
  }

  void timedOut() {
    timedOutConnections.increment();
  }

  int maxConnections() {
    return maxConnections;
  }

  int connections() {
    return connections.get();
  }

  long refusedConnections() {
    return refusedConnections.sum();
  }

  long timedOutConnections() {
    return timedOutConnections.sum();
  }
}
