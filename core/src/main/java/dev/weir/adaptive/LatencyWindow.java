package dev.weir.adaptive;

/**
 * The requests of a while that have succeeded.
 *
 * @param latencyNanos their average latency, above 0
 * @param mostOut the most permits that were out when one of them began
 */
record LatencyWindow(double latencyNanos, int mostOut) {}
