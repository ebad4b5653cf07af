package dev.weir.engine;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a subject, such as a customer: its plan, and its own numbers for single rules.
 * Immutable; many subjects can share one object.
 */
public final class SubjectLimits {
  /** The limits of a subject without a record: all rules have their own numbers. */
  public static final SubjectLimits NONE = new SubjectLimits(null, Map.of());

  /**
   * A subject's own limit for one rule.
   *
   * @param requestsPerUnit permits per window of the rule, 0 to 4294967295
   * @param untilNanos the first instant at which it no longer holds, on the scale of the engine's
   *     ticker; {@link Long#MAX_VALUE} if it does not end
   */
  public record OwnLimit(long requestsPerUnit, long untilNanos) {
    private static final long MAX = (1L << 32) - 1;

    /**
     * @throws IllegalArgumentException if the permits are out of their range
     */
    public OwnLimit {
      if (requestsPerUnit < 0 || requestsPerUnit > MAX) {
        throw new IllegalArgumentException(
            "requestsPerUnit: " + requestsPerUnit + " (expected: 0.." + MAX + ")");
      }
    }

    /**
     * Creates a limit that does not end.
     *
     * @throws IllegalArgumentException if the permits are out of their range
     */
    public OwnLimit(long requestsPerUnit) {
      this(requestsPerUnit, Long.MAX_VALUE);
    }
  }

  private final @Nullable String plan;
  private final Map<String, OwnLimit> own;

  /**
   * Creates the limits of a subject.
   *
   * @param plan the name of a plan in the rules, or null
   * @param own the own limits by the name of the rule, or by the path of one without a name
   */
  public SubjectLimits(@Nullable String plan, Map<String, OwnLimit> own) {
    this.plan = plan;
    this.own = Map.copyOf(own);
  }

  /** Returns the name of the plan, or null. */
  public @Nullable String plan() {
    return plan;
  }

  /** Returns all own limits by the name of the rule, including those that have ended. */
  public Map<String, OwnLimit> own() {
    return own;
  }

  /** Returns the own limit that holds for a rule at an instant, or null. */
  @Nullable
  public OwnLimit own(String rule, long nowNanos) {
    if (own.isEmpty()) {
      return null;
    }
    OwnLimit limit = own.get(rule);
    return limit != null && nowNanos < limit.untilNanos ? limit : null;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SubjectLimits that
        && Objects.equals(plan, that.plan)
        && own.equals(that.own);
  }

  @Override
  public int hashCode() {
    return Objects.hash(plan, own);
  }

  @Override
  public String toString() {
    return "plan " + plan + ", own " + own;
  }
}
