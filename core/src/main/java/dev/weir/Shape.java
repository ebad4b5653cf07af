package dev.weir;

/**
 * The properties that two policies must share for one key's state to mean the same under both. A
 * change of the quota's permits alone keeps the shape, so the state stays in use under the new
 * limit; any other change starts a state of its own, and the store remembers the old one for {@link
 * #memoryNanos}. {@link Policy#shape} computes it.
 *
 * @param algorithm the algorithm that counts: {@link Algorithm#SLIDING_WINDOW} only up to {@value
 *     Policy#LOG_LIMIT} permits, above which it stands for buckets
 * @param windowNanos the quota's window
 * @param granularityNanos the length of a granule of {@link Algorithm#SLIDING_WINDOW_BUCKETS}; of
 *     {@link Algorithm#SLIDING_WINDOW}, the most by which a permit may come back late, and a store
 *     may count it exactly; else 0
 * @param emissionNanos the emission interval of a bucket whose burst is not its quota's permits,
 *     else 0: a bucket whose burst is its limit keeps the share that is used
 * @param burst the burst of such a bucket, else 0
 */
public record Shape(
    Algorithm algorithm, long windowNanos, long granularityNanos, long emissionNanos, long burst) {

  /** The least number of granules in a window of {@link Algorithm#SLIDING_WINDOW}. */
  static final int LEAST_GRANULES = 5_000;

  static Shape of(Policy policy) {
    long window = policy.quota().windowNanos();
    long permits = policy.quota().permits();
    Algorithm algorithm = policy.algorithm();
    return switch (algorithm) {
      case SLIDING_WINDOW ->
          permits <= Policy.LOG_LIMIT
              ? new Shape(algorithm, window, roundGranule(window), 0, 0)
              : buckets(window, policy.granularityNanos());
      case SLIDING_WINDOW_BUCKETS -> buckets(window, policy.granularityNanos());
      case TOKEN_BUCKET, LEAKY_BUCKET ->
          policy.burst() == permits
              ? new Shape(algorithm, window, 0, 0, 0)
              : new Shape(algorithm, window, 0, policy.emissionNanos, policy.burst());
      case SLIDING_WINDOW_LOG, SLIDING_WINDOW_COUNTER, FIXED_WINDOW, CONCURRENCY ->
          new Shape(algorithm, window, 0, 0, 0);
    };
  }

  /**
   * Returns the length of a granule of small limits: 1, 2 or 5 times a power of ten nanoseconds, so
   * that permits which are charged at round times return at round times.
   */
  private static long roundGranule(long windowNanos) {
    long most = Math.max(1, windowNanos / LEAST_GRANULES);
    long power = 1;
    while (power <= most / 10) {
      power *= 10;
    }
    return power * (most >= 5 * power ? 5 : most >= 2 * power ? 2 : 1);
  }

  private static Shape buckets(long windowNanos, long granularityNanos) {
    return new Shape(Algorithm.SLIDING_WINDOW_BUCKETS, windowNanos, granularityNanos, 0, 0);
  }

  /** Returns whether states of this shape count all that was admitted in the window. */
  boolean strict() {
    return algorithm.strict();
  }

  /**
   * Returns the {@link #meter(Calendar, int)} of a state alone, for a calendar that was never
   * stepped.
   */
  Meter meter() {
    return meter(new Calendar(), 0);
  }

  /**
   * Returns the steps that read and write states of this shape, whose windows follow a calendar.
   *
   * @param part the part of a key's state that they read and write
   */
  Meter meter(Calendar calendar, int part) {
    boolean sharesItsBurst = emissionNanos == 0 && burst == 0;
    return switch (algorithm) {
      case SLIDING_WINDOW -> new CompactLog(windowNanos, granularityNanos, part);
      case SLIDING_WINDOW_LOG -> new AlignedLog(windowNanos, 1, part);
      case SLIDING_WINDOW_BUCKETS -> new AlignedLog(windowNanos, granularityNanos, part);
      case SLIDING_WINDOW_COUNTER -> new SlidingCounter(windowNanos, calendar);
      case FIXED_WINDOW -> new FixedWindow(windowNanos, calendar);
      case TOKEN_BUCKET -> new Gcra(false, sharesItsBurst, windowNanos);
      case LEAKY_BUCKET -> new Gcra(true, sharesItsBurst, windowNanos);
      case CONCURRENCY -> new SeatMeter(windowNanos, part);
    };
  }

  /**
   * Returns the longest time after its last use for which a state of this shape can still matter.
   */
  public long memoryNanos() {
    // A counter looks back over the window before this one; a granule ends late; a bucket drains,
    // and its emission interval was rounded up, by less than 1 ns for each permit.
    long detail = granularityNanos + emissionNanos;
    long drain = algorithm.bucket() ? emissionNanos * burst + windowNanos + Quota.MAX_PERMITS : 0;
    return Math.max(2 * windowNanos + detail, drain);
  }
}
