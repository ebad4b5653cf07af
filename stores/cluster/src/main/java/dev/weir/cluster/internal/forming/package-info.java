/**
 * The beginning of a membership: discovery, agreement on a charter, admission, and levels.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.forming.Formation}: founds a cluster or joins one; begin
 *       here
 *   <li>{@link dev.weir.cluster.internal.forming.Admissions}: requests of new members
 *   <li>{@link dev.weir.cluster.internal.forming.DnsSeeds}: addresses of members from the DNS
 *   <li>{@link dev.weir.cluster.internal.forming.LevelRaise}: raises the level of formats once all
 *       members understand the next
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.forming;
