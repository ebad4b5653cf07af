/**
 * The map of a cluster: members by group, groups by slot, and the changes of both.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.map.ClusterMap}: an immutable version of the map; begin
 *       here
 *   <li>{@link dev.weir.cluster.internal.map.CurrentMap}: the newest version in this process
 *   <li>{@link dev.weir.cluster.internal.map.Charter}: the facts with which a cluster was founded
 *   <li>{@link dev.weir.cluster.internal.map.Rebalancer}: the mover of slots; {@link
 *       dev.weir.cluster.internal.map.SlotMove} is the protocol of one move
 *   <li>{@link dev.weir.cluster.internal.map.VoterChange}: moves replicas of groups between members
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.map;
