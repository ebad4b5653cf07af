/**
 * Metrics in the format of Prometheus.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.metrics.ServerMetrics}: the registry of a server; begin
 *       here
 *   <li>{@link dev.weir.server.internal.metrics.MetricSources}: the sources of the figures
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.metrics;
