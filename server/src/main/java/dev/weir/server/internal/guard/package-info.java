/**
 * Protection of the process: bounds on bytes and connections, event loops, caught errors, load.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.guard.PendingBytes}: the budget of bytes for unfinished
 *       requests and unread answers; begin here
 *   <li>{@link dev.weir.server.internal.guard.ConnectionGuard}: the number of connections, and idle
 *       ones
 *   <li>{@link dev.weir.server.internal.guard.EventLoops}: the threads of HTTP and the Redis
 *       protocol
 *   <li>{@link dev.weir.server.internal.guard.LingeringClose}: the close of a connection that sends
 *   <li>{@link dev.weir.server.internal.guard.GuardedTask}: a periodic task whose errors are logged
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.guard;
