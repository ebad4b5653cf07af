package dev.weir.cluster.internal.peer;

import org.jspecify.annotations.Nullable;

/** The level in force, as far as this process knows. Safe for use by many threads. */
public final class ClusterLevel {
  private final Levels able;
  private int inForce;
  private @Nullable String refusal;

  /**
   * @param able what this process understands
   * @param inForce the level that it knows of, one that it understands
   */
  public ClusterLevel(Levels able, int inForce) {
    able.check(inForce, "cluster");
    this.able = able;
    this.inForce = inForce;
  }

  /** Knows of none yet. */
  public ClusterLevel(Levels able) {
    this(able, able.least());
  }

  /** Returns what this process understands. */
  public Levels able() {
    return able;
  }

  public synchronized int inForce() {
    return inForce;
  }

  /**
   * Takes note that a level is in force.
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

  /** Returns what to say in a hello: one that understands less than what is in force is refused. */
  synchronized Levels said() {
    return new Levels(inForce, able.most());
  }

  /** Takes note of why another member refuses this process. */
  synchronized void refused(String words) {
    if (Levels.saysTooOld(words)) {
      refusal = words;
    }
  }

  /** Returns the words by which a member has refused this process as too old; null if none has. */
  public synchronized @Nullable String refusal() {
    return refusal;
  }
}
