/**
 * The ledger of leases: permits lent to clients, until they are returned or expire.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.leases.LeaseLedger}: leases by identifier; a lease is
 *       settled once
 *   <li>{@link dev.weir.engine.internal.leases.LeaseTerms}: how much may be lent, and for how long
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.leases;
