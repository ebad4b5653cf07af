/**
 * The standard answers of a rate limiter over HTTP, for servers and middleware of any kind.
 *
 * <ul>
 *   <li>{@link dev.weir.http.RequestLimiter} and {@link dev.weir.http.Verdict}: what middleware for
 *       any server does with a request.
 *   <li>{@link dev.weir.http.CheckAnswer}: status, {@code Retry-After} and body of an answer of the
 *       engine; a refusal is a problem document (RFC 9457).
 *   <li>{@link dev.weir.http.RateLimitFields} and {@link dev.weir.http.OlderFields}: the header
 *       fields, from the {@link dev.weir.http.Standing}s of an answer.
 *   <li>{@link dev.weir.http.CheckReader} and {@link dev.weir.http.RlsJsonReader}: requests from
 *       JSON bodies, with errors that name line, column and path.
 * </ul>
 *
 * <p>No type here depends on an HTTP server: header fields are handed to a {@link
 * java.util.function.BiConsumer}, bodies are bytes.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http;
