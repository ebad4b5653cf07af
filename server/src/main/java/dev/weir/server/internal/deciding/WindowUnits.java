package dev.weir.server.internal.deciding;

import dev.weir.rules.RateLimitUnit;
import java.util.List;

/**
 * A window in units of time, as Envoy's messages have it.
 *
 * @param count how many units the window has; 1 if it has no whole number of them, and then the
 *     unit is the nearest
 */
public record WindowUnits(RateLimitUnit unit, long count) {
  private static final List<RateLimitUnit> UNITS = List.of(RateLimitUnit.values());
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /** Returns a window in the longest unit of which it has a whole number. */
  public static WindowUnits of(long windowNanos) {
    long seconds = windowNanos / NANOS_PER_SECOND;
    if (seconds == 0 || windowNanos % NANOS_PER_SECOND != 0) {
      return new WindowUnits(nearest(windowNanos), 1);
    }
    RateLimitUnit longest = RateLimitUnit.SECOND;
    for (RateLimitUnit unit : UNITS) {
      longest = seconds % unit.seconds() == 0 ? unit : longest;
    }
    return new WindowUnits(longest, seconds / longest.seconds());
  }

  /** Returns the unit whose length is nearest to the window's as a ratio. */
  private static RateLimitUnit nearest(long windowNanos) {
    long seconds = Math.max(1, windowNanos / NANOS_PER_SECOND);
    RateLimitUnit nearest = RateLimitUnit.SECOND;
    for (RateLimitUnit unit : UNITS) {
      // Beyond the geometric mean of two units, the longer one is nearer.
      if (seconds * seconds > nearest.seconds() * unit.seconds()) {
        nearest = unit;
      }
    }
    return nearest;
  }
}
