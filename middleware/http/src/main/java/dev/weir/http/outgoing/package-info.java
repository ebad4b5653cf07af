/**
 * The other side of HTTP rate limits: what a client does before it sends a request, and with the
 * refusals of services that it calls. Adapters of HTTP clients are thin wrappers around {@link
 * dev.weir.http.outgoing.OutgoingLimiter}.
 *
 * <p>It reads the header fields that {@link dev.weir.http} writes: {@code Retry-After} (RFC 9110)
 * and {@code RateLimit} (draft-ietf-httpapi-ratelimit-headers).
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http.outgoing;
