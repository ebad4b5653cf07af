package dev.weir.identity;

/** What becomes of a descriptor when a value for it is missing. */
public enum Missing {
  /** All requests without the value share one counter, so that leaving it out lifts no limit. */
  SHARED,
  /** The descriptor is left out: a request without the value is not limited by it. */
  SKIP,
  /** The request is refused as a bad one. */
  REFUSE
}
