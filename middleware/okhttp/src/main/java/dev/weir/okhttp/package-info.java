/**
 * Rate limits for requests that OkHttp sends, and so for Retrofit and for Feign on OkHttp: {@link
 * dev.weir.okhttp.RateLimitInterceptor}.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.okhttp;
