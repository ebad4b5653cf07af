package dev.weir.shared;

import java.util.Locale;

/** Why the store gave no decision. */
public enum Failure {
  /** No answer in time. */
  TIMEOUT(false),
  /** No connection, or it was lost while the answer was awaited. */
  DISCONNECTED(false),
  /** Not asked: the store did not answer lately. */
  OPEN(true),
  /** Not asked: too many wait already. */
  OVERLOADED(true),
  /** A replica answered: after a failover, or the address of one is in use. */
  READONLY(true),
  /** The store still reads its data after a start. */
  LOADING(true),
  /** Something else keeps the store busy. */
  BUSY(true),
  /** Keys were moved, or the cluster lacks a node. */
  MOVED(true),
  /** No member of the cluster leads the key's group: it elects one, or lacks a majority. */
  NO_LEADER(true),
  /** Too few replicas had the decision in time. */
  REPLICAS(false),
  /** The store has no memory left. */
  OOM(true),
  /** The store's user may not do what a decision takes, or is not let in. */
  NOPERM(true),
  /** What is stored for the key is not ours, or knows of too many changes of its rule. */
  STATE(true),
  /** Any other error. */
  OTHER(false);

  /** Whether nothing can have been charged. */
  final boolean harmless;

  Failure(boolean harmless) {
    this.harmless = harmless;
  }

  /** Returns the name for metrics. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
