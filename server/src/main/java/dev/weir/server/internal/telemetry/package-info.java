/**
 * Data that the server sends by itself: OpenTelemetry and statsd.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.telemetry.Telemetry}: spans and metrics over OTLP; begin
 *       here
 *   <li>{@link dev.weir.server.internal.telemetry.Statsd}: counts over UDP
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.telemetry;
