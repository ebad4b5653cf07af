/**
 * Rate limits for gRPC calls.
 *
 * <ul>
 *   <li>{@link dev.weir.grpc.RateLimitServerInterceptor}: decisions of a server before it starts a
 *       call
 *   <li>{@link dev.weir.grpc.RateLimitClientInterceptor}: decisions of a client before it sends a
 *       call, and the refusals of servers
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.grpc;
