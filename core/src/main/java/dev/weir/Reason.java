package dev.weir;

/** The reason why a decision is allowed or refused. */
public enum Reason {
  /** The permits fit. */
  WITHIN_LIMIT,
  /** The permits do not fit the quota. */
  OVER_LIMIT,
  /** The permits are beyond the quota, but the policy's {@link Throttle} lets them pass. */
  TOLERATED,
  /** The permits did not fit, but the policy is a shadow and never refuses. */
  SHADOW,
  /**
   * No decision was possible: the shared store or the upstream server did not answer in time, the
   * store cannot count the key, or the subject's limits, the rules or the counts are not known yet.
   */
  UNCERTAIN,
  /** The limiter has more work than it can do in time. */
  OVERLOADED,
  /** No slot is free for a new key, and no live slot is ever given up for one. */
  KEY_SPACE_FULL,
  /** The request makes no sense, for example a negative cost. */
  INVALID,
  /** Nothing limits the request. Only answers by rules have it; no decision of a policy does. */
  NO_LIMIT
}
