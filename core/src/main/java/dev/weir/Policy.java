package dev.weir;

import java.time.Duration;
import java.util.List;

/**
 * A named quota with its algorithm and options. Immutable and safe to share.
 *
 * <p>What depends only on the policy, such as the emission interval of a bucket, is computed here
 * once.
 */
public final class Policy {
  /**
   * The number of permits up to which {@link Algorithm#SLIDING_WINDOW} keeps a log of a byte a
   * permit.
   */
  public static final int LOG_LIMIT = 128;

  /** The number of granules into which a window is divided if the policy does not set it. */
  public static final int DEFAULT_GRANULES = 32;

  /** The most granules a window can have: a bound on the memory and time of one key. */
  public static final int MAX_GRANULES = 4096;

  /** The longest that a full bucket may take to refill, in nanoseconds: 36 years. */
  static final long MAX_TOLERANCE_NANOS = 1L << 60;

  /** The name of a policy without a name of its own. */
  static final String DEFAULT_NAME = "default";

  /** The most permits of a policy of {@link Algorithm#CONCURRENCY}. */
  public static final long MOST_SEATS = 1 << 16;

  private final String name;
  private final Quota quota;
  private final Algorithm algorithm;
  private final long burst;
  private final long granularityNanos;
  private final Sharing sharing;
  private final long maxKeys;
  private final FullMode whenFull;
  private final Throttle throttle;
  private final Policy enforced;
  private final Shape shape;
  private final Builder options;

  /** The time between two permits of a bucket, rounded up: every rounding error denies. */
  final long emissionNanos;

  /**
   * The time after their charge within which permits may be spent, if this is a {@link #lent}
   * policy.
   */
  final long lateNanos;

  /** The time that a full bucket takes to drain. */
  final long toleranceNanos;

  private Policy(Builder builder) {
    options = builder;
    lateNanos = builder.lateNanos;
    name = builder.name;
    quota = builder.quota;
    throttle = builder.throttle;
    long burstOrNone = builder.burst;
    algorithm = builder.algorithm;
    maxKeys = builder.maxKeys;
    whenFull = builder.whenFull;
    long window = quota.windowNanos();

    sharing = builder.sharing.within(window);
    if (builder.granularityNanos != 0 && !algorithm.granular()) {
      Duration granularity = Duration.ofNanos(builder.granularityNanos);
      throw new IllegalArgumentException(
          "granularity: " + granularity + " (expected: none, " + algorithm + " has no granules)");
    }
    if (builder.granularityNanos == 0) {
      granularityNanos = (window + DEFAULT_GRANULES - 1) / DEFAULT_GRANULES;
    } else {
      long finest = (window + MAX_GRANULES - 1) / MAX_GRANULES;
      granularityNanos = Check.range("granularityNanos", builder.granularityNanos, finest, window);
    }

    if (algorithm.bucket()) {
      burst = burstOrNone < 0 ? quota.permits() : burstOrNone;
      emissionNanos = quota.permits() == 0 ? 0 : (window + quota.permits() - 1) / quota.permits();
      long most = emissionNanos == 0 ? Quota.MAX_PERMITS : MAX_TOLERANCE_NANOS / emissionNanos;
      Check.range("burst", burst, 0, Math.min(Quota.MAX_PERMITS, most));
      toleranceNanos = emissionNanos * burst;
    } else {
      if (burstOrNone >= 0) {
        throw new IllegalArgumentException(
            "burst: " + burstOrNone + " (expected: none, " + algorithm + " has no bucket)");
      }
      burst = quota.permits();
      emissionNanos = 0;
      toleranceNanos = 0;
    }
    if (algorithm == Algorithm.CONCURRENCY) {
      checkSeats();
    }
    shape = Shape.of(this);
    enforced = throttle.isHard() ? this : enforced(builder);
  }

  private void checkSeats() {
    Check.range("permits at once", quota.permits(), 0, MOST_SEATS);
    if (sharing.consistency() != Consistency.STRICT) {
      throw new IllegalArgumentException(
          "consistency: "
              + sharing.consistency()
              + " (expected: STRICT for "
              + algorithm
              + ", whose permits come back)");
    }
    if (whenFull == FullMode.SKETCH) {
      throw new IllegalArgumentException(
          "whenFull: SKETCH (expected: another for " + algorithm + ", whose seats need a key)");
    }
  }

  /** Returns the hard policy that has the bounds of a soft or elastic one. */
  private static Policy enforced(Builder builder) {
    Throttle throttle = builder.throttle;
    long permits = builder.quota.permits() + throttle.tolerated(builder.quota.permits());
    Check.range("quota with what is tolerated", permits, 0, Quota.MAX_PERMITS);
    long burst = builder.burst;
    if (burst >= 0) {
      burst += throttle.tolerated(burst);
      Check.range("burst with what is tolerated", burst, 0, Quota.MAX_PERMITS);
    }
    Builder hard = new Builder(builder, new Quota(permits, builder.quota.windowNanos()));
    hard.burst = burst;
    hard.throttle = Throttle.HARD;
    return new Policy(hard);
  }

  /**
   * Returns a policy of that quota, named {@value #DEFAULT_NAME}, with the default algorithm. For a
   * {@link Store} of the caller's choice it needs another name: {@link Builder#name}.
   */
  public static Policy of(Quota quota) {
    return builder(quota).build();
  }

  /**
   * Returns a builder of a policy of {@link Algorithm#CONCURRENCY}: at most so many permits are out
   * at the same time.
   *
   * @param permits 0 to {@value #MOST_SEATS}
   * @param hold the time after which a seat that is not renewed is free again, in the range of a
   *     quota's window
   */
  public static Builder concurrency(long permits, Duration hold) {
    return builder(Quota.of(permits, hold)).algorithm(Algorithm.CONCURRENCY);
  }

  /** Returns a builder of a policy of that quota. */
  public static Builder builder(Quota quota) {
    return new Builder(quota);
  }

  public String name() {
    return name;
  }

  public Quota quota() {
    return quota;
  }

  public Algorithm algorithm() {
    return algorithm;
  }

  /** Returns the capacity: the most permits that one key can be granted at one instant. */
  public long burst() {
    return burst;
  }

  /** Returns the length in nanoseconds of a granule of {@link Algorithm#SLIDING_WINDOW_BUCKETS}. */
  public long granularityNanos() {
    return granularityNanos;
  }

  /**
   * Returns how the policy behaves in a store that processes share, with the sync interval in
   * force.
   */
  public Sharing sharing() {
    return sharing;
  }

  /** Returns how many keys of the policy may have state at once; the store has a bound as well. */
  public long maxKeys() {
    return maxKeys;
  }

  /** Returns the treatment of new keys when the policy's or the store's key space is full. */
  public FullMode whenFull() {
    return whenFull;
  }

  /** Returns how strictly the quota is enforced. */
  public Throttle throttle() {
    return throttle;
  }

  /** Returns the same policy under another name. */
  public Policy named(String name) {
    Check.notNull("name", name);
    return name.equals(this.name) ? this : new Builder(options, quota).name(name).build();
  }

  /**
   * Returns the same policy with another number of permits, 0 to {@link Quota#MAX_PERMITS}; if the
   * burst of a bucket is its quota's permits, it is the new number as well.
   *
   * @throws IllegalArgumentException if the options contradict that number
   */
  public Policy withPermits(long permits) {
    if (permits == quota.permits()) {
      return this;
    }
    Builder other = new Builder(options, new Quota(permits, quota.windowNanos()));
    if (burst == quota.permits()) {
      other.burst = -1;
    }
    return other.build();
  }

  /**
   * Returns the time in which a bucket refills by one permit, in nanoseconds, rounded up. 0 for
   * other algorithms, and for a quota of 0 permits.
   */
  public long permitNanos() {
    return emissionNanos;
  }

  /**
   * Returns the policy by which a {@link Store} counts; this one if it is hard. {@link Throttle}
   * describes what callers of a store have to do for a policy that is not.
   */
  public Policy enforced() {
    return enforced;
  }

  /**
   * Returns the decision under this policy that follows from one of the {@link #enforced} policy:
   * counted against this quota, {@link Reason#TOLERATED} if it is admitted beyond that.
   *
   * @param spare whether an elastic policy has spare capacity now, {@link Throttle#spare}: every
   *     request is admitted then, even if the store cannot decide
   */
  public Decision throttled(Decision decided, boolean spare) {
    Check.notNull("decided", decided);
    if (enforced == this) {
      return decided;
    }
    long beyond = burst - enforced.burst + decided.remaining();
    boolean forced = spare && !decided.allowed() && decided.reason() != Reason.INVALID;
    boolean tolerated =
        decided.reason() == Reason.WITHIN_LIMIT
            ? beyond < 0
            : forced && decided.reason() == Reason.OVER_LIMIT;
    return new Decision(
        forced || decided.allowed(),
        tolerated ? Reason.TOLERATED : decided.reason(),
        decided.cause(),
        name,
        burst,
        Math.max(Math.min(0, decided.remaining()), beyond),
        forced ? 0 : decided.retryAfterNanos(),
        decided.resetAfterNanos(),
        decided.atNanos(),
        List.of());
  }

  /**
   * Returns the store's decision from which {@link #throttled} made the given one. A store that
   * gives permits back needs it in this form, because the weight of a permit depends on the limit.
   */
  public Decision unthrottled(Decision decided) {
    if (enforced == this) {
      return decided;
    }
    return new Decision(
        decided.allowed(),
        decided.reason() == Reason.TOLERATED ? Reason.WITHIN_LIMIT : decided.reason(),
        decided.cause(),
        decided.policy(),
        decided.limit() == burst ? enforced.burst : decided.limit(),
        decided.remaining(),
        decided.retryAfterNanos(),
        decided.resetAfterNanos(),
        decided.atNanos(),
        List.of());
  }

  /**
   * Returns for how long permits may be spent after they were charged, in nanoseconds, if a store
   * counts them by the {@link #lent} policy: for the sync interval, but not beyond the end of a
   * window that begins by the clock. 0 for policies that are not {@link Consistency#LEASED}.
   *
   * @param atNanos the instant at which they were charged, {@link Decision#atNanos}
   */
  public long lentNanos(long atNanos) {
    if (sharing.consistency() != Consistency.LEASED) {
      return 0;
    }
    long life = sharing.syncIntervalNanos();
    long window = quota.windowNanos();
    if (algorithm.aligned()) {
      // A store that counts in microseconds has the same windows only if they are whole
      // microseconds.
      return window % 1_000 == 0 ? Math.min(life, window - Math.floorMod(atNanos, window)) : 0;
    }
    return Math.min(life, Quota.MAX_WINDOW_NANOS - window);
  }

  /**
   * Returns the policy by which a store counts permits that are lent, which may be spent up to a
   * sync interval after they were charged: its window is longer by that interval. Permits spent
   * within one window of this policy were charged within one of that. If windows begin by the
   * clock, lent permits expire with them instead, and this policy itself is returned; so is a
   * policy that is not {@link Consistency#LEASED}.
   *
   * @throws IllegalArgumentException if the options contradict a window of that length
   */
  public Policy lent() {
    if (sharing.consistency() != Consistency.LEASED || algorithm.aligned()) {
      return this;
    }
    long window =
        Math.min(Quota.MAX_WINDOW_NANOS, quota.windowNanos() + sharing.syncIntervalNanos());
    Builder longer = new Builder(options, new Quota(quota.permits(), window));
    longer.sharing = sharing;
    longer.lateNanos = window - quota.windowNanos();
    if (longer.granularityNanos != 0) {
      long finest = (window + MAX_GRANULES - 1) / MAX_GRANULES;
      longer.granularityNanos = Math.max(longer.granularityNanos, finest);
    }
    return longer.build();
  }

  /**
   * Returns the policy as it was counted before {@link Shape#LEAST_GRANULES} existed: small limits
   * of the default algorithm in an exact log.
   */
  Policy countedExactly() {
    if (shape.algorithm() != Algorithm.SLIDING_WINDOW) {
      return this;
    }
    Builder exact = new Builder(options, quota);
    exact.algorithm = Algorithm.SLIDING_WINDOW_LOG;
    exact.granularityNanos = 0;
    exact.lateNanos = lateNanos;
    return exact.build();
  }

  /**
   * Returns the properties that another policy must share with this one for a key's state to go on
   * under it.
   */
  public Shape shape() {
    return shape;
  }

  @Override
  public String toString() {
    String per = algorithm == Algorithm.CONCURRENCY ? " at once, hold " : " per ";
    String text = name + ": " + quota.permits() + per + quota.window() + ", " + algorithm;
    return enforced == this ? text : text + ", " + throttle;
  }

  /** A builder of a policy with its options. Not safe for use by several threads. */
  public static final class Builder {
    private final Quota quota;
    private String name = DEFAULT_NAME;
    private Algorithm algorithm = Algorithm.SLIDING_WINDOW;
    private long burst = -1;
    private long granularityNanos;
    private Sharing sharing = Sharing.STRICT;
    private long maxKeys = Long.MAX_VALUE;
    private FullMode whenFull = FullMode.DENY;
    private Throttle throttle = Throttle.HARD;
    private long lateNanos;

    private Builder(Quota quota) {
      this.quota = Check.notNull("quota", quota);
    }

    private Builder(Builder other, Quota quota) {
      this.quota = quota;
      name = other.name;
      algorithm = other.algorithm;
      burst = other.burst;
      granularityNanos = other.granularityNanos;
      sharing = other.sharing;
      maxKeys = other.maxKeys;
      whenFull = other.whenFull;
      throttle = other.throttle;
      lateNanos = other.lateNanos;
    }

    /** Sets how long after they were charged permits may be spent. */
    Builder late(long nanos) {
      lateNanos = nanos;
      return this;
    }

    /**
     * Sets the name shown in decisions and headers, under which a {@link Store} keeps the counts:
     * policies of one name in one store share one limit. Default: {@value Policy#DEFAULT_NAME},
     * which counts as no name for a policy in a store of the caller's choice.
     */
    public Builder name(String name) {
      this.name = Check.notNull("name", name);
      return this;
    }

    /** Sets the algorithm. Default: {@link Algorithm#SLIDING_WINDOW}. */
    public Builder algorithm(Algorithm algorithm) {
      this.algorithm = Check.notNull("algorithm", algorithm);
      return this;
    }

    /**
     * Sets the capacity of a bucket, 0 to 4294967295 permits, such that a full bucket drains within
     * 36 years. Default: the quota's permits.
     */
    public Builder burst(long permits) {
      this.burst = Check.range("burst", permits, 0, Quota.MAX_PERMITS);
      return this;
    }

    /**
     * Sets the length of a granule of {@link Algorithm#SLIDING_WINDOW_BUCKETS}: at most the window,
     * at least a {@value Policy#MAX_GRANULES}th of it. Default: the window divided by {@value
     * Policy#DEFAULT_GRANULES}. {@link Algorithm#SLIDING_WINDOW} uses it if it counts in buckets;
     * no other algorithm accepts it.
     */
    public Builder granularity(Duration granularity) {
      this.granularityNanos =
          Check.range("granularity", Check.nanos("granularity", granularity), 1, Long.MAX_VALUE);
      return this;
    }

    /**
     * Sets how the policy behaves in a store that processes share: how closely they keep together,
     * and what is answered while the store is away. Default: {@link Sharing#STRICT}.
     */
    public Builder sharing(Sharing sharing) {
      this.sharing = Check.notNull("sharing", sharing);
      return this;
    }

    /**
     * Sets how many keys may have state at once, at least 1. Default: as many as the store holds.
     */
    public Builder maxKeys(long maxKeys) {
      this.maxKeys = Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE);
      return this;
    }

    /** Sets the treatment of new keys when there is no room. Default: {@link FullMode#DENY}. */
    public Builder whenFull(FullMode answer) {
      this.whenFull = Check.notNull("whenFull", answer);
      return this;
    }

    /** Sets how strictly the quota is enforced. Default: {@link Throttle#HARD}. */
    public Builder throttle(Throttle throttle) {
      this.throttle = Check.notNull("throttle", throttle);
      return this;
    }

    /**
     * Returns the policy.
     *
     * @throws IllegalArgumentException if the options contradict each other or the quota
     */
    public Policy build() {
      return new Policy(new Builder(this, quota));
    }
  }
}
