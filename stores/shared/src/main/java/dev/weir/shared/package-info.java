/**
 * The common part of every store that several processes share, whatever carries its calls.
 *
 * <ul>
 *   <li>{@link dev.weir.shared.SharedStore}: the base of such a store; begin here
 *   <li>{@link dev.weir.shared.Caller}: many threads' operations in few calls
 *   <li>{@link dev.weir.shared.Link}: the transport, with a {@link dev.weir.shared.Shard} for each
 *       server that decides
 *   <li>{@link dev.weir.shared.StoreSettings}: timeouts, clocks and logs
 * </ul>
 *
 * <p>{@code internal} has the operations, the permits that a process may spend by itself, and the
 * answers while the store cannot be reached.
 *
 * <p>More than 20 types: they are the interface to a store that is written elsewhere.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.shared;
