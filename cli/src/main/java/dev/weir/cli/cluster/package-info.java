/**
 * Commands on a cluster: the group {@code weir cluster}.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.cluster.ClusterCommand}: the group; begin here
 *   <li>{@link dev.weir.cli.cluster.ClusterPage}: requests to a member
 *   <li>{@link dev.weir.cli.cluster.ClusterTable}: the status of a cluster for people
 *   <li>{@link dev.weir.cli.cluster.ClusterDemoCommand}: a cluster on this machine to try
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.cluster;
