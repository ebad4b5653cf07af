/** Metrics of limiters in a Micrometer registry: {@link dev.weir.micrometer.WeirMetrics}. */
@org.jspecify.annotations.NullMarked
package dev.weir.micrometer;
