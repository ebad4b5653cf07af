/**
 * A besieged cluster: real processes, a history of their answers, and the checks of it.
 *
 * <ul>
 *   <li>{@link dev.weir.siege.cluster.ClusterSiege}: a siege; begin here
 *   <li>{@link dev.weir.siege.cluster.ClusterSite}: the members of one
 *   <li>{@link dev.weir.siege.cluster.ClusterHistory}: the answers
 *   <li>{@link dev.weir.siege.cluster.ClusterSoak}: a long siege with a report
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege.cluster;
