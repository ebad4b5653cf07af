/**
 * Other limiters behind one interface, for side by side runs.
 *
 * <ul>
 *   <li>{@link dev.weir.bench.peers.KeyedLimiter}: the interface; begin here
 *   <li>{@link dev.weir.bench.peers.Peers}: all of them by name
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench.peers;
