package dev.weir.rules.internal.parse;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.rules.CostMode;
import java.util.List;
import java.util.Locale;

/**
 * A reader of the {@code concurrency} of a {@code rate_limit}: how many permits may be out at the
 * same time, and for how long without being renewed. Used by one thread.
 */
final class SeatFields {
  static final String CONCURRENCY = "concurrency";
  private static final String HOLD = "hold";

  /** The hold of a rule that does not set it: 60 seconds. */
  private static final long HOLD_NANOS = 60_000_000_000L;

  /** The keys that say how permits return by themselves. */
  private static final List<String> OF_RATES =
      List.of(
          "unit",
          "window",
          "unit_multiplier",
          "requests_per_unit",
          "granularity",
          "sync_interval",
          "by",
          "unknown");

  private SeatFields() {}

  /** Returns whether the limit is one of permits that are out at the same time. */
  static boolean has(Fields fields) {
    return fields.has(CONCURRENCY);
  }

  /** Returns how many permits may be out, and reports the keys that such a limit does not have. */
  static long permits(Fields fields) {
    for (String key : OF_RATES) {
      if (fields.has(key)) {
        fields.error(key, "none beside concurrency");
      }
    }
    refuse(fields, "algorithm", Algorithm.CONCURRENCY.text());
    refuse(fields, "consistency", lower(Consistency.STRICT));
    refuse(fields, "when_full", "deny");
    refuse(fields, "costs", lower(CostMode.BEFORE));
    return fields.number(CONCURRENCY, 0, Policy.MOST_SEATS);
  }

  /** Refuses a key with another value than the one that a limit at the same time has. */
  private static void refuse(Fields fields, String key, String only) {
    if (fields.has(key) && !only.equals(fields.text(key, RuleParser.MAX_TEXT))) {
      fields.error(key, only + " beside concurrency");
    }
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the time after which a seat that is not renewed is free again, in nanoseconds. */
  static long holdNanos(Fields fields) {
    return fields.has(HOLD)
        ? fields.duration(HOLD, Quota.MIN_WINDOW_NANOS, Quota.MAX_WINDOW_NANOS)
        : HOLD_NANOS;
  }

  /** Reports keys of a limit at the same time in one of a rate. */
  static void refuseBesideRate(Fields fields) {
    if (fields.has(HOLD)) {
      fields.error(HOLD, "none without concurrency");
    }
  }
}
