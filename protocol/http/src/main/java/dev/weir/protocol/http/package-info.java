/**
 * The protocol of the service over HTTP: JSON bodies and header fields, without an HTTP server.
 *
 * <ul>
 *   <li>{@link dev.weir.protocol.http.CheckReader}: the reader of {@code /v1/check}, with errors
 *       that name line, column and path; begin here
 *   <li>{@link dev.weir.protocol.http.CheckAnswer}: status, {@code Retry-After} and body of an
 *       answer; a refusal is a problem document (RFC 9457)
 *   <li>{@link dev.weir.protocol.http.RateLimitFields}: the header fields {@code RateLimit} and
 *       {@code RateLimit-Policy}
 *   <li>{@link dev.weir.protocol.http.RetryFields}: {@code Retry-After}, its bound and its spread
 *   <li>{@link dev.weir.protocol.http.OlderFields}: the header fields {@code X-RateLimit-*}
 *   <li>{@link dev.weir.protocol.http.RlsJsonReader}: {@code /json}, the messages of Envoy
 *   <li>{@link dev.weir.protocol.http.LeaseCall}: leases
 * </ul>
 *
 * <p>More than 20 types: each body and each group of header fields is one.
 *
 * <p>No type depends on an HTTP server: header fields go to a {@link
 * java.util.function.BiConsumer}, bodies are bytes.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.protocol.http;
