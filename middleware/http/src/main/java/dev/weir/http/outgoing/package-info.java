/**
 * HTTP rate limits on the side of a client: decisions before it sends a request, and the refusals
 * of services that it calls. Adapters of HTTP clients are thin wrappers around {@link
 * dev.weir.http.outgoing.OutgoingLimiter}.
 *
 * <p>It reads the header fields that {@link dev.weir.http} writes: {@code Retry-After} (RFC 9110)
 * and {@code RateLimit} (draft-ietf-httpapi-ratelimit-headers).
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http.outgoing;
