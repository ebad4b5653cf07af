package dev.weir.adaptive;

/**
 * The state of an {@link AdaptiveLimiter} at one instant, and the reason for its limit. A value:
 * immutable.
 *
 * @param limit the permits that may be out at the same time
 * @param inFlight the permits that are out; more than the limit after it has fallen
 * @param waiting the requests that wait for a permit
 * @param latencies the latencies by which the limit is found
 * @param reason the last change of the limit and its reason, as a sentence for people; its wording
 *     may change
 * @param sinceNanos the time since that change, in nanoseconds
 */
public record LimitExplanation(
    int limit,
    int inFlight,
    int waiting,
    LatencyEstimate latencies,
    String reason,
    long sinceNanos) {}
