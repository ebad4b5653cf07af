/**
 * Faults of members: killed, paused, cut off, with other clocks, disks and folders.
 *
 * <ul>
 *   <li>{@link dev.weir.siege.faults.ClusterFault}: the interface; begin here
 *   <li>{@link dev.weir.siege.faults.ProcessFault}: signals
 *   <li>{@link dev.weir.siege.faults.NetworkFault}: cut and slow connections
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege.faults;
