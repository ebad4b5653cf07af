/**
 * Rate limits for gRPC calls.
 *
 * <ul>
 *   <li>{@link dev.weir.grpc.RateLimitServerInterceptor}: a server asks before it starts a call.
 *   <li>{@link dev.weir.grpc.RateLimitClientInterceptor}: a client asks before it sends a call, and
 *       remembers what a server refused.
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.grpc;
