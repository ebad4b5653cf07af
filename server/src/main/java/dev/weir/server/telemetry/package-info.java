/** What the server sends to other systems by itself: OpenTelemetry and statsd. */
@org.jspecify.annotations.NullMarked
package dev.weir.server.telemetry;
