package dev.weir.identity;

/** The treatment of a descriptor when a value for it is missing. */
public enum MissingValue {
  /**
   * All requests without the value share one counter, so that a client gains nothing by leaving it
   * out.
   */
  SHARED,
  /** The descriptor is left out: a request without the value is not limited by it. */
  SKIP,
  /** The request is refused as a bad one. */
  REFUSE
}
