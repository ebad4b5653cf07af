package dev.weir.config;

import dev.weir.Quota;
import dev.weir.config.internal.bytes.Check;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A subject's own number for one rule, in place of the number of the rule or of a plan.
 *
 * @param rule the name of a rule of the subject's domain, 1 to 1,024 bytes in UTF-8
 * @param requestsPerUnit 0 to 4294967295; 0 refuses every request
 * @param window in whole milliseconds, at most 366 days, or null for the rule's window
 * @param burst 0 to 4294967295, or null for the rule's burst
 * @param until the end of this limit, in whole seconds since 1970, or null if it has none
 */
public record OwnLimit(
    String rule,
    long requestsPerUnit,
    @Nullable Duration window,
    @Nullable Long burst,
    @Nullable Instant until) {

  /** The last second of the year 9999, which every database supports. */
  public static final long MAX_UNTIL_SECONDS = 253_402_300_799L;

  public static final long MAX_WINDOW_MILLIS = Quota.MAX_WINDOW_NANOS / 1_000_000;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public OwnLimit {
    Check.line("rule", rule, 1, Subject.MAX_NAME_BYTES);
    Check.range("requests_per_unit", requestsPerUnit, 0, Quota.MAX_PERMITS);
    if (window != null && !fits(window)) {
      throw Check.wrong("window", window, "whole milliseconds, more than none, at most 366 days");
    }
    if (burst != null) {
      Check.range("burst", burst, 0, Quota.MAX_PERMITS);
    }
    if (until != null && !fits(until)) {
      throw Check.wrong("until", until, "whole seconds, from 1970 to 9999");
    }
  }

  /** Returns a limit with the rule's own window and burst, and without an end. */
  public static OwnLimit of(String rule, long requestsPerUnit) {
    return new OwnLimit(rule, requestsPerUnit, null, null, null);
  }

  private static boolean fits(Duration window) {
    return window.compareTo(Duration.ofMillis(MAX_WINDOW_MILLIS)) <= 0
        && window.compareTo(Duration.ofMillis(1)) >= 0
        && window.equals(Duration.ofMillis(window.toMillis()));
  }

  private static boolean fits(Instant until) {
    return until.getNano() == 0
        && until.getEpochSecond() >= 0
        && until.getEpochSecond() <= MAX_UNTIL_SECONDS;
  }
}
