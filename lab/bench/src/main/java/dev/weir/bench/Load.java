package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.bench.peers.KeyedLimiter;
import java.time.Duration;

/** The ratio of the limits to the requests. */
public enum Load {
  /** A load in which every request is within its limit. */
  ALL_ALLOWED("all-allowed"),

  /** A load with one permit a day: the first request of a key takes it, every other is refused. */
  MOSTLY_DENIED("mostly-denied");

  /**
   * The permits of an ample limit: more than the longest run requests for one key, even if it is
   * the only one.
   */
  public static final long AMPLE = 1_000_000_000;

  /**
   * The refill of a bucket that is never empty: little, because a bucket that has filled up again
   * is dropped, and the tables are to be measured full.
   */
  public static final Quota TRICKLE = Quota.perHour(3_600);

  /**
   * The window of a log that admits everything. The log holds every request of a window, so its
   * length bounds the memory.
   */
  public static final Duration LOG_WINDOW = Duration.ofSeconds(1);

  public static final Duration DAY = Duration.ofDays(1);

  private final String text;

  Load(String text) {
    this.text = text;
  }

  /** Returns the policy of Weir that makes this load. */
  public Policy policy(Algorithm algorithm) {
    if (this == MOSTLY_DENIED) {
      return Policy.builder(Quota.perDay(1)).algorithm(algorithm).build();
    }
    if (algorithm.bucket()) {
      return Policy.builder(TRICKLE).algorithm(algorithm).burst(AMPLE).build();
    }
    boolean log = algorithm == Algorithm.SLIDING_WINDOW_LOG;
    return Policy.builder(Quota.of(Quota.MAX_PERMITS, log ? LOG_WINDOW : DAY))
        .algorithm(algorithm)
        .build();
  }

  /** Returns the permits that {@link KeyedLimiter#fill} takes from a limiter with that policy. */
  public long fillPermits(Policy policy) {
    return this == ALL_ALLOWED && policy.algorithm().bucket() ? 1_000 : 1;
  }

  /**
   * Returns the load of that name.
   *
   * @throws IllegalArgumentException if there is no such load
   */
  static Load of(String text) {
    for (Load load : values()) {
      if (load.text.equals(text)) {
        return load;
      }
    }
    throw new IllegalArgumentException(
        "load: " + text + " (expected: " + ALL_ALLOWED + " or " + MOSTLY_DENIED + ")");
  }

  @Override
  public String toString() {
    return text;
  }
}
