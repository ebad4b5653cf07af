/**
 * The replicated log of a group and the election of its leader. Only this package depends on Apache
 * Ratis.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.log.Ledger}: the interface of a log; begin here
 *   <li>{@link dev.weir.cluster.internal.log.RatisEngine}: all groups of a member in one Ratis
 *       server; {@link dev.weir.cluster.internal.log.RatisLedger} is the log of one
 *   <li>{@link dev.weir.cluster.internal.log.BundledLedger}: a log that packs many appends into one
 *       entry
 *   <li>{@link dev.weir.cluster.internal.log.PeerRpc}: the transport of Ratis over {@code
 *       internal.peer}
 *   <li>{@link dev.weir.cluster.internal.log.LeaderLoss}: the detection of a lost leader
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.log;
