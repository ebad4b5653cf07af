/**
 * Rate limits in any servlet container, by filters of the Servlet API (6.0 and later).
 *
 * <ul>
 *   <li>{@link dev.weir.servlet.RateLimitFilter} decides a request and refuses it if it is beyond
 *       the limit. There may be several, for example by address before authentication and by login
 *       after it.
 *   <li>{@link dev.weir.servlet.WaitingFilter}, the last filter, holds requests that wait for their
 *       turn, if the rules have a queue.
 *   <li>{@link dev.weir.servlet.RefusalHandler} answers refusals in the application's own way.
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.servlet;
