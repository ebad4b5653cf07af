package dev.weir.rules;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The units of time in the rule format. A month is 30 days and a year 365. */
public enum RateLimitUnit {
  SECOND(1),
  MINUTE(60),
  HOUR(3_600),
  DAY(86_400),
  WEEK(7 * 86_400),
  MONTH(30 * 86_400),
  YEAR(365 * 86_400);

  private final long seconds;

  RateLimitUnit(long seconds) {
    this.seconds = seconds;
  }

  public long seconds() {
    return seconds;
  }

  /** Returns the unit of that name in any letter case, or null if there is none. */
  public static @Nullable RateLimitUnit of(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    for (RateLimitUnit unit : values()) {
      if (unit.name().equals(upper)) {
        return unit;
      }
    }
    return null;
  }
}
