package dev.weir.insight;

import dev.weir.Reason;
import dev.weir.engine.LimitOrigin;

/**
 * A request that a limit refused.
 *
 * @param number its number, counted from 1 on this server
 * @param timeMillis the time, in milliseconds since 1970
 * @param revision the revision of the rules in the configuration store, 0 if they are from
 *     elsewhere
 * @param origin the source of the limit's number
 * @param limit the permits per window
 * @param windowNanos the length of the window
 * @param cause the cause of {@link Reason#UNCERTAIN}, as in {@link dev.weir.Decision}
 * @param retryAfterNanos the time until a retry, as in {@link dev.weir.Decision}
 * @param standsFor the number of refusals from which this one was picked, at least 1
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
    String cause,
    long retryAfterNanos,
    long standsFor) {}
