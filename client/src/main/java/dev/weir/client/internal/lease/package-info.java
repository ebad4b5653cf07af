/**
 * Decisions without a call: leased permits and remembered refusals, by key.
 *
 * <ul>
 *   <li>{@link dev.weir.client.internal.lease.LeasingDecider}: a decision from a lease, or by a
 *       call; begin here
 *   <li>{@link dev.weir.client.internal.lease.Keys}: the keys that the client keeps
 *   <li>{@link dev.weir.client.internal.lease.Lease}: permits that are lent to one key
 *   <li>{@link dev.weir.client.internal.lease.AdvanceSize}: the number of permits to request in
 *       advance
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.client.internal.lease;
