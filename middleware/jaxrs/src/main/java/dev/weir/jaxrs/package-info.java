/**
 * Rate limits for the requests of a JAX-RS application: {@link dev.weir.jaxrs.RateLimitFeature} is
 * registered with it.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.jaxrs;
