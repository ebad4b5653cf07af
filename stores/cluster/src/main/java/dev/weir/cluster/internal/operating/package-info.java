/**
 * Status, metrics, changes by operators, and backups.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.operating.ClusterOperations}: changes that operators order
 *   <li>{@link dev.weir.cluster.internal.operating.HandOver}: the transfer of leadership before a
 *       member ends
 *   <li>{@link dev.weir.cluster.internal.operating.Backups}: parts of a backup, read from running
 *       replicas
 *   <li>{@link dev.weir.cluster.internal.operating.GroupCounters}: counts and times of one group
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.operating;
