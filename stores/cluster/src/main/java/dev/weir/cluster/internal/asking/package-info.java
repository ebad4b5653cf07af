/**
 * The request path of a decision, from a caller to the leader of the key's group.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.asking.ClusterLink}: the shards of a cluster, one a group;
 *       begin here
 *   <li>{@link dev.weir.cluster.internal.asking.GroupShard}: the operations for one group as an
 *       entry
 *   <li>{@link dev.weir.cluster.internal.asking.GroupRoutes}: the route of an entry: this process,
 *       or {@link dev.weir.cluster.internal.asking.PeerRoute} to another
 *   <li>{@link dev.weir.cluster.internal.asking.GroupLeader}: the leader's end, which refuses
 *       early, replicates and replies
 *   <li>{@link dev.weir.cluster.internal.asking.OwnGroups}: the groups of this member; {@link
 *       dev.weir.cluster.internal.asking.OwnGroup} is one
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.asking;
