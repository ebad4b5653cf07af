package dev.weir.insight;

import java.util.List;

/** The series that are kept, by their names. */
public final class Series {
  /** Of the whole server: first the counters, then the gauges. */
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

  /** How many of {@link #GLOBAL} are counters, which are added up; of gauges the largest counts. */
  public static final int COUNTERS = 6;

  /** Of each rule, all of them counters, in permits. */
  public static final List<String> RULE =
      List.of("asked", "within", "near", "over", "tolerated", "shadow");

  /** Rules that have series of their own in one row; the others are in {@link #OTHER} together. */
  public static final int MAX_RULES = 200;

  /** The name of what the rules beyond {@link #MAX_RULES} have together. */
  public static final String OTHER = "other";

  /** A gauge of which nothing is known: the times of decisions where there was none. */
  public static final long UNKNOWN = -1;

  static final int P50 = COUNTERS;
  static final int P99 = COUNTERS + 1;

  private Series() {}
}
