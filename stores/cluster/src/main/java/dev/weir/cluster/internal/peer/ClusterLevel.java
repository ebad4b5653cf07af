package dev.weir.cluster.internal.peer;

import org.jspecify.annotations.Nullable;

/** The level in force, as far as it is known to this process. Safe for use by many threads. */
public final class ClusterLevel {
  private final Levels able;
  private int inForce;
  private @Nullable String refusal;

  /**
   * Creates a known level.
   *
   * @param able the levels that this process understands
   * @param inForce the known level, one of those
   */
  public ClusterLevel(Levels able, int inForce) {
    able.check(inForce, "cluster");
    this.able = able;
    this.inForce = inForce;
  }

  /** Creates a level that is not known yet. */
  public ClusterLevel(Levels able) {
    this(able, able.least());
  }

  /** Returns the levels that this process understands. */
  public Levels able() {
    return able;
  }

  public synchronized int inForce() {
    return inForce;
  }

  /**
   * Notes that a level is in force.
   *
   * @return whether this is news
   * @throws LevelException if this process does not understand it
   */
  public synchronized boolean raise(int level) {
    if (level <= inForce) {
      return false;
    }
    able.check(level, "cluster");
    inForce = level;
    return true;
  }

  /**
   * Returns the levels for a hello: a process that understands less than the level in force is
   * refused.
   */
  synchronized Levels advertised() {
    return new Levels(inForce, able.most());
  }

  /** Notes the reason why another member refuses this process. */
  synchronized void refused(String words) {
    if (Levels.saysTooOld(words)) {
      refusal = words;
    }
  }

  /**
   * Returns the message with which a member has refused this process as too old; null if none has.
   */
  public synchronized @Nullable String refusal() {
    return refusal;
  }
}
