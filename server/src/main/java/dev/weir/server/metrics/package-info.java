/** What Prometheus reads. */
@org.jspecify.annotations.NullMarked
package dev.weir.server.metrics;
