package dev.weir.shared;

import dev.weir.internal.Choice;

/** The ways in which a store may have lost counts. */
public enum Loss {
  /** The store is empty, or older than it was: counted each time. */
  COUNTS,
  /**
   * Another process of the store, after a restart or a failover; the last decisions may be lost:
   * counted each time.
   */
  RESTART,
  /** Keys that the store has evicted, of limits or not: each is counted. */
  EVICTION;

  /** Returns the name for metrics. */
  public String text() {
    return Choice.name(this);
  }
}
