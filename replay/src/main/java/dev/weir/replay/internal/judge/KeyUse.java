package dev.weir.replay.internal.judge;

import org.jspecify.annotations.Nullable;

/**
 * One key's use of its window, beside what its rule decided: what it asked for, and what an exact
 * log of its own admissions says of each decision.
 */
public final class KeyUse {
  /** More permits count as this many: far beyond any limit, and small enough to add up. */
  static final long MAX_PERMITS = 1L << 40;

  private final long limit;
  private final long windowNanos;
  private final RollingSum offered;
  private final RollingSum admitted;

  /** What an elastic rule let pass beyond its limit, once it did. */
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
   * Takes a decision.
   *
   * @param fits whether the rule found room for it
   * @param charged whether it was charged: it fits, and the request as a whole was allowed
   * @param uncharged whether it passed beyond the limit without being charged
   * @return how many entries the memory has grown by
   */
  public int add(long nowNanos, long permits, boolean fits, boolean charged, boolean uncharged) {
    return offer(nowNanos, permits) + judge(nowNanos, permits, fits, charged, uncharged);
  }

  /** Takes a request that is decided later, by {@link #judge}; returns as {@link #add}. */
  int offer(long nowNanos, long permits) {
    int grown = offered.add(nowNanos, permits);
    peak = Math.max(peak, offered.sum());
    return grown;
  }

  /** Takes the decision on a request that was offered before; as {@link #add}. */
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

  /** Returns the most permits it asked for within a window. */
  public long peak() {
    return peak;
  }

  /** Returns the most permits it was admitted within a window. */
  public long most() {
    return most;
  }

  /** Returns how often it was refused although its window had room. */
  public long falseDenials() {
    return falseDenials;
  }

  /** Returns how often it was admitted although its window had no room. */
  public long overAdmissions() {
    return overAdmissions;
  }

  int entries() {
    return offered.entries() + admitted.entries() + (spared == null ? 0 : spared.entries());
  }
}
