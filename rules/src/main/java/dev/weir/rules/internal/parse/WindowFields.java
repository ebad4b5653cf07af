package dev.weir.rules.internal.parse;

import dev.weir.Quota;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.RateLimitUnit;
import java.util.List;

/** A reader of the window of a {@code rate_limit}: a unit, or a duration. Used by one thread. */
final class WindowFields {
  private static final String UNITS = "second, minute, hour, day, week, month or year";
  private static final List<String> UNIT_NAMES =
      List.of("second", "minute", "hour", "day", "week", "month", "year");

  private WindowFields() {}

  /** Returns the window in nanoseconds, or 0 after reporting a problem with it. */
  static long nanos(Fields fields, RuleDraft draft, Problems problems) {
    if (fields.has("window")) {
      return windowText(fields);
    }
    if (!fields.hasValue("unit")) {
      fields.error("unit", UNITS + ", or window instead");
      return 0;
    }
    int errorsBefore = problems.errors();
    String name = fields.text("unit", RuleParser.MAX_TEXT);
    RateLimitUnit unit = RateLimitUnit.of(name);
    if (unit == null) {
      if (problems.errors() == errorsBefore) {
        problems.error(
            fields.position("unit"),
            "unit: %s%s (expected: %s)"
                .formatted(fields.shown("unit"), DidYouMean.of(name, UNIT_NAMES), UNITS));
      }
      return 0;
    }
    draft.unit = unit;
    long unitNanos = unit.seconds() * 1_000_000_000L;
    if (fields.has("unit_multiplier")) {
      long most = Quota.MAX_WINDOW_NANOS / unitNanos;
      long multiplier = fields.number("unit_multiplier", 1, most);
      draft.unitMultiplier = (int) Math.max(1, multiplier);
    }
    return unitNanos * draft.unitMultiplier;
  }

  private static long windowText(Fields fields) {
    for (String key : List.of("unit", "unit_multiplier")) {
      if (fields.has(key)) {
        fields.error(key, "none beside window");
      }
    }
    return fields.duration("window", Quota.MIN_WINDOW_NANOS, Quota.MAX_WINDOW_NANOS);
  }
}
