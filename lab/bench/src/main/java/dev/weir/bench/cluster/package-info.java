/**
 * Rates, latencies and faults of a cluster's members.
 *
 * <ul>
 *   <li>{@link dev.weir.bench.cluster.ClusterFigures}: the scenarios; begin here
 *   <li>{@link dev.weir.bench.cluster.ClusterMembers}: members as processes
 *   <li>{@link dev.weir.bench.cluster.ClusterLoad}: load on them
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench.cluster;
