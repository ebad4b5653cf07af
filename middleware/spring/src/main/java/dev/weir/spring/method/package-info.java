/** Limits on methods: the aspect behind {@link dev.weir.spring.RateLimit}. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.method;
