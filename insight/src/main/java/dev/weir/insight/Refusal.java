package dev.weir.insight;

import dev.weir.Reason;
import dev.weir.engine.LimitOrigin;

/**
 * A request that a limit refused.
 *
 * @param number counted from 1 on this server
 * @param timeMillis since 1970
 * @param revision of the rules in the configuration store, 0 if they are from elsewhere
 * @param origin where the limit's number comes from
 * @param limit the permits of a window
 * @param windowNanos the length of the window
 * @param retryAfterNanos as in {@link dev.weir.Decision}
 * @param standsFor from how many refusals this one was picked, at least 1
 */
public record Refusal(
    long number,
    long timeMillis,
    KeyName key,
    long revision,
    LimitOrigin origin,
    long limit,
    long windowNanos,
    Reason reason,
    long retryAfterNanos,
    long standsFor) {}
