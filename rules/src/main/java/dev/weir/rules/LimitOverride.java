package dev.weir.rules;

/**
 * A limit in a descriptor itself, in force instead of any rule's.
 *
 * @param requestsPerUnit 0 to 4294967295
 */
public record LimitOverride(long requestsPerUnit, RateLimitUnit unit) {}
