/**
 * Limits at the same time that a process finds by itself, from the latencies and the failures of
 * the backend that it protects.
 *
 * <ul>
 *   <li>{@link dev.weir.adaptive.AdaptiveLimiter}: gives permits out and adapts their number
 *   <li>{@link dev.weir.adaptive.AdaptivePermit}: one permit, until its request has ended
 *   <li>{@link dev.weir.adaptive.AdaptiveAlgorithm}: the rules by which the limit is found
 *   <li>{@link dev.weir.adaptive.LimitExplanation}: the limit now, and the reason for it
 * </ul>
 *
 * <p>Nothing of it is kept in a store: each process finds the limit of its own requests.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.adaptive;
