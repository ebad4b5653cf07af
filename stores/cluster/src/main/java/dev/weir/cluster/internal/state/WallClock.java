package dev.weir.cluster.internal.state;

import dev.weir.Ticker;

/**
 * A member's wall clock.
 *
 * @param ticker may be set to any time
 * @param maxErrorNanos the largest error at which it is still followed
 */
public record WallClock(Ticker ticker, long maxErrorNanos) {}
