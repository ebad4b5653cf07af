/**
 * Rate limits for what {@code java.net.http} sends, and so for whatever takes a {@link
 * java.net.http.HttpClient}: {@link dev.weir.http.client.RateLimitedHttpClient}.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.http.client;
