package dev.weir.server.internal.metrics;

import dev.weir.config.follow.FollowerStatus;
import dev.weir.config.follow.SubjectCacheStatus;
import dev.weir.engine.SubjectMetrics;

/**
 * The counts of a server's configuration store.
 *
 * @param subjects the look-ups of subjects' limits by rules with {@code by}
 * @param cache the cache of the limits of subjects
 */
public record CountedConfig(
    FollowerStatus follower, SubjectMetrics subjects, SubjectCacheStatus cache) {}
