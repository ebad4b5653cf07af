package dev.weir.insight;

import java.util.List;

/** The names of the series that are kept. */
public final class Series {
  /** The series of the whole server: first the counters, then the gauges. */
  public static final List<String> GLOBAL =
      List.of(
          "asked",
          "refused",
          "errors",
          "uncertain",
          "overloaded",
          "key_space_full",
          "p50_nanos",
          "p99_nanos",
          "keys",
          "full_percent",
          "state_bytes",
          "queued");

  /**
   * The number of counters in {@link #GLOBAL}, which are added up; of the gauges, the largest value
   * counts.
   */
  public static final int COUNTERS = 6;

  /** The series of each rule: all of them are counters, in permits. */
  public static final List<String> RULE =
      List.of("asked", "within", "near", "over", "tolerated", "shadow");

  /** The most rules with their own series in one row; the others are in {@link #OTHER} together. */
  public static final int MAX_RULES = 200;

  /** The name of the series that the rules beyond {@link #MAX_RULES} share. */
  public static final String OTHER = "other";

  /** The value of an unknown gauge, such as the times of decisions in a span without any. */
  public static final long UNKNOWN = -1;

  static final int P50 = COUNTERS;
  static final int P99 = COUNTERS + 1;

  private Series() {}
}
