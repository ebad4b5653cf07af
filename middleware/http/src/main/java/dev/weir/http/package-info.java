/**
 * The common part of middleware for HTTP servers and clients of any kind.
 *
 * <ul>
 *   <li>{@link dev.weir.http.RequestLimiter}: a request to a {@link dev.weir.http.Verdict}; begin
 *       here
 *   <li>{@link dev.weir.http.RefusalStyle}: the form of refusals
 *   <li>{@link dev.weir.http.PathPatterns}: paths that a limiter is for, or not
 *   <li>{@link dev.weir.http.LimiterSettings}: settings that all adapters have
 * </ul>
 *
 * <p>Requests and answers of the service over HTTP are in {@code dev.weir.protocol.http}.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http;
