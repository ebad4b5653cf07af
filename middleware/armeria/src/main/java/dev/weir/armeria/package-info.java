/**
 * Rate limits for the requests of an Armeria service: {@link dev.weir.armeria.RateLimitService}
 * decorates it.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.armeria;
