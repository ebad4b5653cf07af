package dev.weir.shared;

import dev.weir.internal.Choice;

/** The reasons why the store gave no decision. */
public enum Failure {
  /** No answer in time. */
  TIMEOUT(false),
  /** No connection, or it was lost while the answer was awaited. */
  DISCONNECTED(false),
  /** Not called: the last calls to the store failed. */
  OPEN(true),
  /** Not called: too many operations wait already. */
  OVERLOADED(true),
  /** A replica answered: after a failover, or because its address is configured. */
  READONLY(true),
  /** The store still reads its data after a start. */
  LOADING(true),
  /** Another task keeps the store busy. */
  BUSY(true),
  /** Keys were moved, or the cluster lacks a node. */
  MOVED(true),
  /** No member of the cluster leads the key's group: it elects one, or lacks a majority. */
  NO_LEADER(true),
  /** Too few replicas had the decision in time. */
  REPLICAS(false),
  /**
   * The store has fewer replicas than it needs to accept writes ({@code min-replicas-to-write}).
   */
  NOREPLICAS(true),
  /** The store accepts no writes since it could not save its data, for example on a full disk. */
  MISCONF(true),
  /** The store has no memory left. */
  OOM(true),
  /** The store's user lacks a permission that a decision needs, or cannot log in. */
  NOPERM(true),
  /**
   * The store cannot count the key: its value is not Weir's, or its rule was changed too often
   * within its windows, or (cluster) the group has no room for another policy, or some member does
   * not know the algorithm yet.
   */
  STATE(true),
  /** Any other error. */
  OTHER(false);

  /** True if nothing can have been charged. */
  final boolean harmless;

  private final String text = Choice.name(this);

  Failure(boolean harmless) {
    this.harmless = harmless;
  }

  /** Returns the name for metrics, which is also the {@link dev.weir.Decision#cause() cause}. */
  public String text() {
    return text;
  }
}
