/** Limits on methods: what {@link dev.weir.spring.RateLimit} says, as an aspect. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.method;
