package dev.weir.engine;

import java.util.List;

/**
 * The counts of an engine since it began; a snapshot.
 *
 * @param rules the counts of rules, in the order of their paths
 * @param requests those that were decided, allowed or denied, without errors
 * @param denied those of them that were refused
 * @param errors requests that could not be decided
 * @param decisionTimeCounts how many decisions took at most the bound of the same index, and more
 *     than the one before; one element more than the bounds, for those beyond
 * @param decisionTimeBoundsNanos bounds on the time of decisions, ascending, in nanoseconds
 * @param decisionTimeSumNanos the time of all decisions together, in nanoseconds
 * @param keySpaceFull charges of new keys that were refused for want of room
 * @param overloaded requests that were answered without being decided, for want of time
 * @param uncertain charges that a store could not decide, answered by their policies' failure
 *     modes; a limit of an unknown subject is no charge, and is in {@link SubjectMetrics#uncertain}
 * @param keys keys that have state in the store
 * @param maxKeys the most keys that may have state at once
 * @param bytes bytes that the state takes, about
 * @param maxBytes the most bytes that the state may take
 * @param reloads rule sets that came into force
 * @param reloadFailures rule sets that did not
 * @param revision the number of the rules in force, 0 before the first
 * @param queues the counts of requests that waited for their turn
 */
public record EngineMetrics(
    List<RuleMetrics> rules,
    long requests,
    long denied,
    long errors,
    List<Long> decisionTimeCounts,
    List<Long> decisionTimeBoundsNanos,
    long decisionTimeSumNanos,
    long keySpaceFull,
    long overloaded,
    long uncertain,
    long keys,
    long maxKeys,
    long bytes,
    long maxBytes,
    long reloads,
    long reloadFailures,
    long revision,
    QueueMetrics queues) {}
