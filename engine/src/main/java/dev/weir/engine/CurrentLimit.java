package dev.weir.engine;

import dev.weir.Policy;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.RateLimitUnit;
import org.jspecify.annotations.Nullable;

/**
 * The limit that decided a descriptor.
 *
 * @param requestsPerUnit 0 to 4294967295
 * @param unit the rule's unit, or null if the rule's window is no unit
 * @param name the {@code name} in the rule file, or empty
 * @param policy the policy that decided
 * @param queue how requests beyond the limit may wait, or null if they are refused at once
 * @param origin the origin of the number
 */
public record CurrentLimit(
    long requestsPerUnit,
    @Nullable RateLimitUnit unit,
    String name,
    Policy policy,
    @Nullable QueueBounds queue,
    LimitOrigin origin) {

  /** Returns a limit with a rule's own number. */
  public CurrentLimit(
      long requestsPerUnit,
      @Nullable RateLimitUnit unit,
      String name,
      Policy policy,
      @Nullable QueueBounds queue) {
    this(requestsPerUnit, unit, name, policy, queue, LimitOrigin.RULE);
  }

  /** Returns a limit with a rule's own number; requests beyond it are refused at once. */
  public CurrentLimit(
      long requestsPerUnit, @Nullable RateLimitUnit unit, String name, Policy policy) {
    this(requestsPerUnit, unit, name, policy, null);
  }
}
