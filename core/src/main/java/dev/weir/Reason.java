package dev.weir;

/** Why a decision came out as it did. */
public enum Reason {
  /** The permits fit. */
  WITHIN_LIMIT,
  /** The permits do not fit the quota. */
  OVER_LIMIT,
  /** The permits are beyond the quota, but the policy's {@link Throttle} lets them pass. */
  TOLERATED,
  /** The permits did not fit, but the policy only watches. */
  SHADOW,
  /** The store cannot know: it is away, or not the owner. */
  UNCERTAIN,
  /** The limiter has more work than it can do in time. */
  OVERLOADED,
  /** No slot is free for a new key, and no live slot is ever given up for one. */
  KEY_SPACE_FULL,
  /** The request makes no sense, for example a negative cost. */
  INVALID,
  /** Nothing limits the request. Of answers by rules; no decision of a policy has it. */
  NO_LIMIT
}
