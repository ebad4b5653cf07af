package dev.weir.engine;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.rules.Rule;
import org.jspecify.annotations.Nullable;

/**
 * How one descriptor fared.
 *
 * @param allowed whether the request may pass as far as this descriptor is concerned
 * @param rule the rule that matched, or null if none did, if it was replaced, or if the request
 *     brought a limit of its own
 * @param decision the decision on this descriptor for itself, or null where nothing limits it
 * @param currentLimit what limits it, or null where nothing does
 * @param limitRemaining permits left, 0 to 4294967295; the latter where a rule says unlimited, also
 *     if it was replaced
 * @param durationUntilResetSeconds where something limits it: until a refused request would pass,
 *     the length of the window if it never will, or else the reset-after; rounded up, at least 1.
 *     Otherwise 0
 */
public record Status(
    boolean allowed,
    @Nullable Rule rule,
    @Nullable Decision decision,
    @Nullable CurrentLimit currentLimit,
    long limitRemaining,
    long durationUntilResetSeconds) {

  /** What {@code limitRemaining} says where there is no limit. */
  public static final long UNLIMITED = (1L << 32) - 1;

  static final Status UNMATCHED = new Status(true, null, null, null, 0, 0);

  /** Of a rule without a limit that another one has replaced. */
  static final Status UNLIMITED_REPLACED = new Status(true, null, null, null, UNLIMITED, 0);

  /** Returns the answer to a descriptor that matches a rule without a limit. */
  static Status withoutLimit(Rule rule) {
    return new Status(true, rule, null, null, rule.unlimited() ? UNLIMITED : 0, 0);
  }

  /** Returns the answer to a descriptor whose subject has no limit by the rule that it matches. */
  static Status unlimited(Rule rule) {
    return new Status(true, rule, null, null, UNLIMITED, 0);
  }

  /** Returns why it came out as it did: {@link Reason#NO_LIMIT} where nothing limits it. */
  public Reason reason() {
    return decision == null ? Reason.NO_LIMIT : decision.reason();
  }
}
