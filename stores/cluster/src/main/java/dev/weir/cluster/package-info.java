/**
 * A store in a cluster of Weir's own servers. A majority of them commits an admission before it is
 * answered.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.Cluster}: a member, which opens its folder and port, joins, decides
 *       and leaves
 *   <li>{@link dev.weir.cluster.ClusterStore}: the store by which a member or a client decides
 *   <li>{@link dev.weir.cluster.ClusterClient}: a process that decides by a cluster without being a
 *       member
 *   <li>{@link dev.weir.cluster.ClusterBackup}: a consistent copy of all groups; {@link
 *       dev.weir.cluster.ClusterRestore} begins a cluster from one
 * </ul>
 *
 * <p>The rooms, from the bottom up: {@code peer} carries frames between processes; {@code log}
 * replicates entries with Apache Ratis; {@code state} has the result of a group's entries; {@code
 * map} places groups and keys; {@code asking} brings a decision to the leader of its key's group;
 * {@code forming} joins members; {@code operating} serves operators. {@code docs/architecture.md}
 * follows one decision through them.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster;
