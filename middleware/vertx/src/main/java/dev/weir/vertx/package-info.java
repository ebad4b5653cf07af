/**
 * Rate limits for the requests of a Vert.x Web application: {@link dev.weir.vertx.RateLimitHandler}
 * is a handler for routes.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.vertx;
