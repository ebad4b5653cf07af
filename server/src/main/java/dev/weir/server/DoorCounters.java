package dev.weir.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * What a door counts of its connections, and the memory that it shares with the others. Safe for
 * use by many threads.
 */
final class DoorCounters {
  private final int maxConnections;
  private final PendingBytes pending;
  private final AtomicInteger connections = new AtomicInteger();
  private final LongAdder refusedConnections = new LongAdder();
  private final LongAdder timedOutConnections = new LongAdder();
  private final LongAdder evictedConnections = new LongAdder();

  DoorCounters(int maxConnections, PendingBytes pending) {
    this.maxConnections = maxConnections;
    this.pending = pending;
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

  PendingBytes pending() {
    return pending;
  }

  /** As {@link PendingBytes#open}. */
  PendingBytes.Account account(Runnable evict) {
    return pending.open(this, evict);
  }

  /** Counts a connection that is closed because unfinished requests take too much memory. */
  void evicted() {
    evictedConnections.increment();
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

  long evictedConnections() {
    return evictedConnections.sum();
  }
}
