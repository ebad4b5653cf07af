/**
 * Metrics that parts of the server outside its module add to its page: {@link
 * dev.weir.server.metrics.Families} collects them.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.metrics;
