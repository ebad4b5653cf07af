/**
 * Limits on methods: the aspect behind {@link dev.weir.spring.RateLimit}.
 *
 * <p>More than 20 types: each kind of return value has an adapter of its own.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.method;
