package dev.weir.adaptive;

/**
 * The latencies by which a limit is found. A value: immutable.
 *
 * @param lastNanos the average latency of the last window that was in use, in nanoseconds; 0 if
 *     there was none
 * @param baseNanos the latency that it is compared with, in nanoseconds: the long average of {@link
 *     AdaptiveAlgorithm#GRADIENT}, the latency without a queue of {@link AdaptiveAlgorithm#VEGAS};
 *     0 if it is not known, and with {@link AdaptiveAlgorithm#AIMD}
 * @param gradient the part of the limit that the quotient of both leaves, 0.5 to 1; 1 with other
 *     algorithms than {@link AdaptiveAlgorithm#GRADIENT}
 * @param queued the requests that are estimated to be in the backend's queue, at least 0; 0 with
 *     other algorithms than {@link AdaptiveAlgorithm#VEGAS}
 */
public record LatencyEstimate(long lastNanos, long baseNanos, double gradient, double queued) {}
