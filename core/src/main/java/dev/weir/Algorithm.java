package dev.weir;

import java.util.List;
import java.util.stream.Stream;

/**
 * A way of counting permits. Each algorithm states its bound: the most permits that it admits to
 * one key in any half-open window {@code (t - W, t]} for a quota of {@code N} permits per window
 * {@code W}.
 */
public enum Algorithm {
  /**
   * A compact log for limits up to {@value Policy#LOG_LIMIT}, {@link #SLIDING_WINDOW_BUCKETS}
   * above. Bound: N. In the log, permits return up to a {@value Shape#LEAST_GRANULES}th of the
   * window late, where the store does not count exactly. Space: about N bytes a key.
   */
  SLIDING_WINDOW("sliding-window"),

  /**
   * A log with one entry for each instant at which permits were admitted. Exact. Bound: N. Space:
   * O(N) a key.
   */
  SLIDING_WINDOW_LOG("sliding-window-log"),

  /**
   * Counts per granule with a running total; the partly expired granule counts in full. Bound: N.
   * Permits return up to one granule late. Time O(1), space O(window / granularity).
   */
  SLIDING_WINDOW_BUCKETS("sliding-window-buckets"),

  /**
   * The permits of this clock-aligned window and, of the previous window's permits, the share that
   * the sliding window still covers, rounded up. Bound: 2N - 1, when the whole previous window was
   * used in its last instant.
   */
  SLIDING_WINDOW_COUNTER("sliding-window-counter"),

  /**
   * One counter for each window; windows begin at multiples of their length. Bound: 2N, across an
   * edge.
   */
  FIXED_WINDOW("fixed-window"),

  /**
   * The generic cell rate algorithm: a bucket of {@code burst} permits that refills evenly, N in W.
   * Bound: burst + N - 1, and burst at any one instant.
   */
  TOKEN_BUCKET("token-bucket"),

  /**
   * The same meter in reverse: requests fill the bucket, which leaks evenly. {@link
   * RateLimiter#acquire} and {@link RateLimiter#reserve} queue: permits leave one after the other
   * at constant outflow, and are refused when the bucket is full. Bound: burst + N - 1.
   */
  LEAKY_BUCKET("leaky-bucket"),

  /**
   * Permits that are out at the same time, as {@link Seat}s: each counts until it is given back, or
   * has not been renewed for the window. Bound: at most N permits are out and not lost, at any
   * instant; how many are admitted in a window has none. Space: 24 bytes a seat.
   */
  CONCURRENCY("concurrency");

  private static final List<Algorithm> RATES =
      Stream.of(values()).filter(each -> each != CONCURRENCY).toList();

  private final String text;

  Algorithm(String text) {
    this.text = text;
  }

  /**
   * Returns the algorithms that limit a rate: how many permits there are in a window of time. All
   * but {@link #CONCURRENCY}.
   */
  public static List<Algorithm> rates() {
    return RATES;
  }

  /** Returns the name used in rule files, flags and reports, for example {@code token-bucket}. */
  public String text() {
    return text;
  }

  /** Returns whether no window ever holds more than the quota. */
  public boolean strict() {
    return this == SLIDING_WINDOW || this == SLIDING_WINDOW_LOG || this == SLIDING_WINDOW_BUCKETS;
  }

  /** Returns whether the algorithm is a bucket, whose capacity is the policy's burst. */
  public boolean bucket() {
    return this == TOKEN_BUCKET || this == LEAKY_BUCKET;
  }

  /** Returns whether its windows begin by the clock, at multiples of their length. */
  public boolean aligned() {
    return this == FIXED_WINDOW || this == SLIDING_WINDOW_COUNTER;
  }

  /** Returns whether it can count in granules, whose length a policy may choose. */
  public boolean granular() {
    return this == SLIDING_WINDOW || this == SLIDING_WINDOW_BUCKETS;
  }

  /**
   * Returns the algorithm of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static Algorithm of(String text) {
    StringBuilder known = new StringBuilder();
    for (Algorithm algorithm : values()) {
      if (algorithm.text.equals(text)) {
        return algorithm;
      }
      known.append(known.length() == 0 ? "" : ", ").append(algorithm.text);
    }
    throw new IllegalArgumentException("algorithm: " + text + " (expected: one of " + known + ")");
  }

  @Override
  public String toString() {
    return text;
  }
}
