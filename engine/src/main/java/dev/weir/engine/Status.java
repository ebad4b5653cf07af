package dev.weir.engine;

import dev.weir.Decision;
import dev.weir.rules.Rule;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one descriptor.
 *
 * @param rule the rule that matched, or null if none did, if it was replaced, or if the request
 *     brought a limit of its own
 * @param decision the decision on this descriptor for itself, or null where nothing limits it
 * @param currentLimit what limits it, or null where nothing does
 * @param limitRemaining permits left, 0 to 4294967295; the latter where a rule says unlimited
 * @param durationUntilResetSeconds where something limits it: until a refused request would pass,
 *     or else until the key is as good as new; rounded up, at least 1. Otherwise 0
 */
public record Status(
    Code code,
    @Nullable Rule rule,
    @Nullable Decision decision,
    @Nullable CurrentLimit currentLimit,
    long limitRemaining,
    long durationUntilResetSeconds) {

  /** What {@code limitRemaining} says where there is no limit. */
  public static final long UNLIMITED = (1L << 32) - 1;

  static final Status UNMATCHED = new Status(Code.OK, null, null, null, 0, 0);
}
