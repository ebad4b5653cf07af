package dev.weir;

/**
 * What two policies must share for one key's state to mean the same under both. A change of the
 * quota's permits alone keeps the shape, so the state simply goes on under the new limit.
 *
 * @param algorithm never {@link Algorithm#SLIDING_WINDOW}, which is one of two others
 * @param detailNanos the granularity of buckets, the emission interval of a bucket with its own
 *     burst, or 0
 * @param detail the burst of a bucket with its own, 1 for windows aligned to the first request, or
 *     0
 */
record Shape(Algorithm algorithm, long windowNanos, long detailNanos, long detail) {

  static Shape of(Policy policy) {
    long window = policy.quota().windowNanos();
    long permits = policy.quota().permits();
    Algorithm algorithm = policy.algorithm();
    return switch (algorithm) {
      case SLIDING_WINDOW ->
          permits <= Policy.LOG_LIMIT
              ? new Shape(Algorithm.SLIDING_WINDOW_LOG, window, 0, 0)
              : new Shape(Algorithm.SLIDING_WINDOW_BUCKETS, window, policy.granularityNanos(), 0);
      case SLIDING_WINDOW_BUCKETS -> new Shape(algorithm, window, policy.granularityNanos(), 0);
      case FIXED_WINDOW -> new Shape(algorithm, window, 0, policy.alignedToFirstRequest() ? 1 : 0);
      case TOKEN_BUCKET, LEAKY_BUCKET ->
          policy.burst() == permits
              ? new Shape(algorithm, window, 0, 0)
              : new Shape(algorithm, window, policy.emissionNanos, policy.burst());
      case SLIDING_WINDOW_LOG, SLIDING_WINDOW_COUNTER -> new Shape(algorithm, window, 0, 0);
    };
  }

  /** Returns whether states of this shape know all that was admitted in the window. */
  boolean strict() {
    return algorithm.strict();
  }

  /** Returns the steps that read and write states of this shape. */
  Meter meter() {
    return switch (algorithm) {
      case SLIDING_WINDOW_LOG -> new SlidingLog(windowNanos, 1);
      case SLIDING_WINDOW_BUCKETS -> new SlidingLog(windowNanos, detailNanos);
      case SLIDING_WINDOW_COUNTER -> new SlidingCounter(windowNanos);
      case FIXED_WINDOW -> new FixedWindow(windowNanos, detail == 1);
      case TOKEN_BUCKET -> new Gcra(false, detail == 0, windowNanos);
      case LEAKY_BUCKET -> new Gcra(true, detail == 0, windowNanos);
      case SLIDING_WINDOW ->
          throw new IllegalStateException(
              "algorithm: " + algorithm + " (expected: a resolved one)");
    };
  }

  /** Returns how long after its last use a state of this shape can still matter, at most. */
  long memoryNanos() {
    // A counter looks back over the window before this one; a granule ends late; a bucket drains,
    // and its emission interval was rounded up by less than 1 ns for each permit.
    long drain = algorithm.bucket() ? detailNanos * detail + windowNanos + Quota.MAX_PERMITS : 0;
    return Math.max(2 * windowNanos + detailNanos, drain);
  }
}
