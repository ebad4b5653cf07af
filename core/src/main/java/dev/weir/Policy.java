package dev.weir;

import java.time.Duration;

/**
 * A named quota with its algorithm and options. Immutable and safe to share.
 *
 * <p>What depends only on the policy, such as the emission interval of a bucket, is computed here
 * once.
 */
public final class Policy {
  /** Up to this many permits, {@link Algorithm#SLIDING_WINDOW} keeps an exact log: 2 KiB a key. */
  public static final int LOG_LIMIT = 128;

  /** Into how many granules a window is divided where the policy does not say. */
  public static final int DEFAULT_GRANULES = 32;

  /** The most granules a window can have: what one key can cost in memory and time. */
  public static final int MAX_GRANULES = 4096;

  /** Where the policy does not say: the part of a window between two syncs with a store. */
  private static final int SYNCS_PER_WINDOW = 20;

  private static final long LEAST_DEFAULT_SYNC_NANOS = 10_000_000L;
  private static final long MOST_DEFAULT_SYNC_NANOS = 1_000_000_000L;

  /** The shortest time between two syncs with a store. */
  private static final long MIN_SYNC_NANOS = 1_000_000L;

  /** The longest that a full bucket may take to refill, in nanoseconds: 36 years. */
  static final long MAX_TOLERANCE_NANOS = 1L << 60;

  /** The name of a policy that was given none. */
  static final String DEFAULT_NAME = "default";

  private final String name;
  private final Quota quota;
  private final Algorithm algorithm;
  private final long burst;
  private final long granularityNanos;
  private final boolean alignedToFirstRequest;
  private final FailureAnswer onFailure;
  private final double localShare;
  private final Consistency consistency;
  private final long syncIntervalNanos;
  private final long maxKeys;
  private final FullAnswer whenFull;
  private final Throttle throttle;
  private final Policy enforced;
  private final Shape shape;

  /** Between two permits of a bucket, rounded up: every rounding error denies. */
  final long emissionNanos;

  /** What a full bucket is worth. */
  final long toleranceNanos;

  private Policy(Builder builder) {
    this(builder, builder.quota, builder.burst, builder.throttle);
  }

  private Policy(Builder builder, Quota quota, long burstOrNone, Throttle throttle) {
    name = builder.name;
    this.quota = quota;
    this.throttle = throttle;
    algorithm = builder.algorithm;
    onFailure = builder.onFailure;
    localShare = builder.localShare;
    consistency = builder.consistency;
    maxKeys = builder.maxKeys;
    whenFull = builder.whenFull;
    alignedToFirstRequest = builder.alignedToFirstRequest;
    long window = quota.windowNanos();

    if (builder.syncIntervalNanos == 0) {
      long share = Math.max(window / SYNCS_PER_WINDOW, LEAST_DEFAULT_SYNC_NANOS);
      syncIntervalNanos = Math.min(window, Math.min(share, MOST_DEFAULT_SYNC_NANOS));
    } else {
      syncIntervalNanos =
          Check.range("syncIntervalNanos", builder.syncIntervalNanos, MIN_SYNC_NANOS, window);
    }

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
    shape = Shape.of(this);
    enforced = throttle.isHard() ? this : enforced(builder);
  }

  /** Returns the hard policy that holds the bounds of one that is not. */
  private static Policy enforced(Builder builder) {
    Throttle throttle = builder.throttle;
    long permits = builder.quota.permits() + throttle.tolerated(builder.quota.permits());
    Check.range("quota with what is tolerated", permits, 0, Quota.MAX_PERMITS);
    long burst = builder.burst;
    if (burst >= 0) {
      burst += throttle.tolerated(burst);
      Check.range("burst with what is tolerated", burst, 0, Quota.MAX_PERMITS);
    }
    Quota bound = new Quota(permits, builder.quota.windowNanos());
    return new Policy(builder, bound, burst, Throttle.HARD);
  }

  /**
   * Returns a policy named {@value #DEFAULT_NAME} of that quota by the default algorithm. One that
   * is to be counted in a {@link Store} of one's own choice needs another name: {@link
   * Builder#name}.
   */
  public static Policy of(Quota quota) {
    return builder(quota).build();
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
   * Returns whether a fixed window starts at its first request, not at a multiple of its length.
   */
  public boolean alignedToFirstRequest() {
    return alignedToFirstRequest;
  }

  public FailureAnswer onFailure() {
    return onFailure;
  }

  /**
   * Returns the share of the quota, and of a bucket's burst, that each process admits by itself
   * while the store cannot know, above 0 and at most 1: of {@link FailureAnswer#LOCAL}.
   */
  public double localShare() {
    return localShare;
  }

  /** Returns how closely processes that share the policy through a store keep together. */
  public Consistency consistency() {
    return consistency;
  }

  /**
   * Returns for how long a process acts on what it last heard from the store: the life of an
   * allotment of {@link Consistency#LEASED}, the time between syncs of {@link
   * Consistency#APPROXIMATE}; 1 ms to the window.
   */
  public long syncIntervalNanos() {
    return syncIntervalNanos;
  }

  /** Returns how many keys of the policy may have state at once; the store has a bound as well. */
  public long maxKeys() {
    return maxKeys;
  }

  /** Returns what becomes of new keys when the policy's or the store's key space is full. */
  public FullAnswer whenFull() {
    return whenFull;
  }

  /** Returns how strictly the quota is held. */
  public Throttle throttle() {
    return throttle;
  }

  /**
   * Returns the policy that a {@link Store} is to hold: this one if it is hard; if it is soft, a
   * hard one of the quota and burst with what is tolerated; if it is elastic, a hard one of the
   * same quota. {@link #told} says what its decisions are in the words of this one.
   */
  public Policy enforced() {
    return enforced;
  }

  /**
   * Returns what a decision of the {@link #enforced} policy is to callers of this one: counted
   * against this quota, {@link Reason#TOLERATED} where it is admitted beyond that.
   *
   * @param spare whether an elastic policy has spare capacity now, {@link Throttle#spare}; nobody
   *     is refused then, be it for the limit or because nobody knows
   */
  public Decision told(Decision decided, boolean spare) {
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
        forced ? Outcome.ALLOWED : decided.outcome(),
        tolerated ? Reason.TOLERATED : decided.reason(),
        name,
        burst,
        Math.max(0, beyond),
        forced ? 0 : decided.retryAfterNanos(),
        decided.resetAfterNanos(),
        decided.atNanos());
  }

  Shape shape() {
    return shape;
  }

  @Override
  public String toString() {
    String text = name + ": " + quota.permits() + " per " + quota.window() + ", " + algorithm;
    return enforced == this ? text : text + ", " + throttle;
  }

  /** Collects a policy's options. Not safe for use by several threads. */
  public static final class Builder {
    private final Quota quota;
    private String name = DEFAULT_NAME;
    private Algorithm algorithm = Algorithm.SLIDING_WINDOW;
    private long burst = -1;
    private long granularityNanos;
    private boolean alignedToFirstRequest;
    private FailureAnswer onFailure = FailureAnswer.DENY;
    private double localShare = 1;
    private Consistency consistency = Consistency.STRICT;
    private long syncIntervalNanos;
    private long maxKeys = Long.MAX_VALUE;
    private FullAnswer whenFull = FullAnswer.DENY;
    private Throttle throttle = Throttle.HARD;

    private Builder(Quota quota) {
      this.quota = Check.notNull("quota", quota);
    }

    /**
     * Sets the name shown in decisions and headers, under which a {@link Store} keeps the counts:
     * policies of one name in one store are one limit. Default: {@value Policy#DEFAULT_NAME}, which
     * is no name for a policy in a store of one's own choice.
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
     * Policy#DEFAULT_GRANULES}. {@link Algorithm#SLIDING_WINDOW} uses it where it counts in
     * buckets; no other algorithm takes one.
     */
    public Builder granularity(Duration granularity) {
      this.granularityNanos =
          Check.range("granularity", Check.nanos("granularity", granularity), 1, Long.MAX_VALUE);
      return this;
    }

    /**
     * Starts a fixed window at its first request. Default: windows start at multiples of their
     * length.
     */
    public Builder alignedToFirstRequest() {
      this.alignedToFirstRequest = true;
      return this;
    }

    /** Sets the answer when the store cannot know. Default: {@link FailureAnswer#DENY}. */
    public Builder onFailure(FailureAnswer answer) {
      this.onFailure = Check.notNull("onFailure", answer);
      return this;
    }

    /**
     * Sets the share of the quota, above 0 and at most 1, that each process admits by itself where
     * {@link FailureAnswer#LOCAL} applies. Default: 1, which is right for one process.
     */
    public Builder localShare(double share) {
      if (!(share > 0 && share <= 1)) {
        throw new IllegalArgumentException(
            "localShare: " + share + " (expected: above 0, at most 1)");
      }
      this.localShare = share;
      return this;
    }

    /**
     * Sets how closely processes that share the policy keep together. A store in this process is
     * always strict. Default: {@link Consistency#STRICT}.
     */
    public Builder consistency(Consistency consistency) {
      this.consistency = Check.notNull("consistency", consistency);
      return this;
    }

    /**
     * Sets for how long a process acts on what it last heard from the store: 1 ms to the window.
     * Default: a 20th of the window, at least 10 ms, at most 1 s.
     */
    public Builder syncInterval(Duration interval) {
      this.syncIntervalNanos =
          Check.range("syncInterval", Check.nanos("syncInterval", interval), 1, Long.MAX_VALUE);
      return this;
    }

    /**
     * Sets how many keys may have state at once, at least 1. Default: as many as the store holds.
     */
    public Builder maxKeys(long maxKeys) {
      this.maxKeys = Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE);
      return this;
    }

    /** Sets what becomes of new keys when there is no room. Default: {@link FullAnswer#DENY}. */
    public Builder whenFull(FullAnswer answer) {
      this.whenFull = Check.notNull("whenFull", answer);
      return this;
    }

    /**
     * Sets how strictly the quota is held. Whoever uses the policy with a {@link Store} itself, not
     * by a {@link RateLimiter}, gives it {@link Policy#enforced}. Default: {@link Throttle#HARD}.
     */
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
      return new Policy(this);
    }
  }
}
