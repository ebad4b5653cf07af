package dev.weir.replay.internal.judge;

import org.jspecify.annotations.Nullable;

/**
 * The use of a window by one key, beside its rule's decisions: the permits it requested, and a
 * check of each decision against an exact log of the key's own admissions.
 */
public final class KeyUse {
  /**
   * The largest number of permits that is counted: far beyond any limit, and small enough to add
   * up.
   */
  static final long MAX_PERMITS = 1L << 40;

  private final long limit;
  private final long windowNanos;
  private final RollingSum offered;
  private final RollingSum admitted;

  /** The permits that an elastic rule let pass beyond its limit; null until it does. */
  private @Nullable RollingSum spared;

  private long peak;
  private long most;
  private long falseDenials;
  private long overAdmissions;

  public KeyUse(long limit, long windowNanos) {
    this.limit = limit;
    this.windowNanos = windowNanos;
    offered = new RollingSum(windowNanos);
    admitted = new RollingSum(windowNanos);
  }

  /**
   * Adds a decision.
   *
   * @param fits true if the rule found room for it
   * @param charged true if it was charged: it fits, and the request as a whole was allowed
   * @param uncharged true if it passed beyond the limit without being charged
   * @return the number of entries by which the memory has grown
   */
  public int add(long nowNanos, long permits, boolean fits, boolean charged, boolean uncharged) {
    return offer(nowNanos, permits) + judge(nowNanos, permits, fits, charged, uncharged);
  }

  /**
   * Adds a request that is decided later, by {@link #judge}. Returns the entries that {@link #add}
   * describes.
   */
  int offer(long nowNanos, long permits) {
    int grown = offered.add(nowNanos, permits);
    peak = Math.max(peak, offered.sum());
    return grown;
  }

  /**
   * Adds the decision on a request that was offered before. Returns the entries that {@link #add}
   * describes.
   */
  int judge(long nowNanos, long permits, boolean fits, boolean charged, boolean uncharged) {
    int grown = 0;
    boolean room = permits <= limit - admitted.at(nowNanos);
    falseDenials += room && !fits ? 1 : 0;
    if (charged) {
      overAdmissions += room ? 0 : 1;
      grown += admitted.add(nowNanos, permits);
    } else if (uncharged) {
      if (spared == null) {
        spared = new RollingSum(windowNanos);
        grown += spared.entries();
      }
      grown += spared.add(nowNanos, permits);
    }
    if (charged || uncharged) {
      most = Math.max(most, admitted.sum() + (spared == null ? 0 : spared.at(nowNanos)));
    }
    return grown;
  }

  /** Returns the most permits that the key requested within a window. */
  public long peak() {
    return peak;
  }

  /** Returns the most permits that the key was admitted within a window. */
  public long most() {
    return most;
  }

  /** Returns the number of refusals while its window had room. */
  public long falseDenials() {
    return falseDenials;
  }

  /** Returns the number of admissions while its window had no room. */
  public long overAdmissions() {
    return overAdmissions;
  }

  int entries() {
    return offered.entries() + admitted.entries() + (spared == null ? 0 : spared.entries());
  }
}
