package dev.weir.rules;

import dev.weir.Quota;
import org.jspecify.annotations.Nullable;

/**
 * A limit in a descriptor itself, in force instead of any rule's.
 *
 * @param requestsPerUnit 0 to 4294967295
 * @param unitMultiplier the units in its window, 1 to {@link #maxMultiplier}; an engine answers a
 *     request with another number by an error
 */
public record LimitOverride(long requestsPerUnit, RateLimitUnit unit, long unitMultiplier) {

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /** Returns a limit whose window is one unit. */
  public LimitOverride(long requestsPerUnit, RateLimitUnit unit) {
    this(requestsPerUnit, unit, 1);
  }

  /** Returns the most units of a kind that a window can have. */
  public static long maxMultiplier(RateLimitUnit unit) {
    return Quota.MAX_WINDOW_NANOS / (unit.seconds() * NANOS_PER_SECOND);
  }

  /** Returns the problem with the multiplier, or null: a number and those that are expected. */
  public static @Nullable String problem(RateLimitUnit unit, long unitMultiplier) {
    long most = maxMultiplier(unit);
    return unitMultiplier >= 1 && unitMultiplier <= most
        ? null
        : unitMultiplier + " (expected: 1.." + most + " of unit " + unit + ")";
  }

  /** Returns the length of the window, in nanoseconds. */
  public long windowNanos() {
    return unitMultiplier * unit.seconds() * NANOS_PER_SECOND;
  }
}
