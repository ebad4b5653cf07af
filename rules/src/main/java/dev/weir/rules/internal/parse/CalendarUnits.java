package dev.weir.rules.internal.parse;

import dev.weir.rules.RateLimitUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The units that have the names of the calendar's, and are not those: months and years. */
final class CalendarUnits {
  private CalendarUnits() {}

  /** Warns of such a unit, with the window that says the same. */
  static void lint(Fields fields, @Nullable RateLimitUnit unit, int multiplier) {
    if (unit == RateLimitUnit.MONTH || unit == RateLimitUnit.YEAR) {
      long days = unit.seconds() / RateLimitUnit.DAY.seconds() * multiplier;
      fields.warning(
          "unit",
          "window: %dd, which is the same; no %s of the calendar, a fixed-window begins every %d days since 1970"
              .formatted(days, unit.name().toLowerCase(Locale.ROOT), days));
    }
  }
}
