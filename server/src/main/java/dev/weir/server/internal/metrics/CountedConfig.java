package dev.weir.server.internal.metrics;

import dev.weir.config.follow.FollowerStatus;
import dev.weir.config.follow.SubjectCacheStatus;
import dev.weir.engine.SubjectMetrics;

/**
 * What a server has counted of its configuration store.
 *
 * @param subjects whose limits rules with {@code by} have asked for
 * @param cache of the limits of subjects
 */
public record CountedConfig(
    FollowerStatus follower, SubjectMetrics subjects, SubjectCacheStatus cache) {}
