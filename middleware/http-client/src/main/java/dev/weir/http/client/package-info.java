/**
 * Rate limits for requests that {@code java.net.http} sends, and so for all code that takes a
 * {@link java.net.http.HttpClient}: {@link dev.weir.http.client.RateLimitedHttpClient}.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http.client;
