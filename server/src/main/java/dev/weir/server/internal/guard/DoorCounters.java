package dev.weir.server.internal.guard;

import dev.weir.internal.Histogram;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counts of a port's connections and the times of its requests, with access to the memory
 * budget of all ports. Safe for use by many threads.
 */
public final class DoorCounters {
  private final int maxConnections;
  private final PendingBytes pending;
  private final AtomicInteger connections = new AtomicInteger();
  private final LongAdder refusedConnections = new LongAdder();
  private final LongAdder timedOutConnections = new LongAdder();
  private final LongAdder evictedConnections = new LongAdder();
  private final Histogram times = Histogram.ofRequests();

  public DoorCounters(int maxConnections, PendingBytes pending) {
    this.maxConnections = maxConnections;
    this.pending = pending;
  }

  /**
   * Counts a new connection; returns whether there is room for it. {@link #closed} must follow in
   * both cases.
   */
  public boolean opened() {
    if (connections.incrementAndGet() <= maxConnections) {
      return true;
    }
    refusedConnections.increment();
    return false;
  }

  /** Counts a connection that is closed to make room for others. */
  public void displaced() {
    refusedConnections.increment();
  }

  public void closed() {
    connections.decrementAndGet();
  }

  public void timedOut() {
    timedOutConnections.increment();
  }

  public PendingBytes pending() {
    return pending;
  }

  /** Opens the account of a connection. See {@link PendingBytes#open}. */
  public PendingBytes.Account account(Runnable evict) {
    return pending.open(this, evict);
  }

  /** Counts a connection that is closed because unfinished requests take too much memory. */
  public void evicted() {
    evictedConnections.increment();
  }

  /**
   * Returns the times of requests for decisions, from their reading until their answers were passed
   * to the connection.
   */
  public Histogram times() {
    return times;
  }

  public int maxConnections() {
    return maxConnections;
  }

  public int connections() {
    return connections.get();
  }

  public long refusedConnections() {
    return refusedConnections.sum();
  }

  public long timedOutConnections() {
    return timedOutConnections.sum();
  }

  public long evictedConnections() {
    return evictedConnections.sum();
  }
}
