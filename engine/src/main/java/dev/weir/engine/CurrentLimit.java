package dev.weir.engine;

import dev.weir.Policy;
import dev.weir.rules.RateLimitUnit;
import org.jspecify.annotations.Nullable;

/**
 * The limit that a descriptor was judged by.
 *
 * @param requestsPerUnit 0 to 4294967295
 * @param unit the rule's unit, or null where the rule gives a window that is none
 * @param name the {@code name} in the rule file, or empty
 * @param policy what decided
 */
public record CurrentLimit(
    long requestsPerUnit, @Nullable RateLimitUnit unit, String name, Policy policy) {}
