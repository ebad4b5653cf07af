/**
 * Holds as texts: {@link dev.weir.engine.internal.holds.HoldToken} is the signed text that a client
 * keeps, and {@link dev.weir.engine.internal.holds.HeldCharge} what it has of each descriptor.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.holds;
