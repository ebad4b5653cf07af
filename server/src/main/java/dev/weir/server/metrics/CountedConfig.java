package dev.weir.server.metrics;

import dev.weir.config.FollowerStatus;
import dev.weir.engine.SubjectMetrics;

/** What a server has counted of its configuration store. */
public record CountedConfig(FollowerStatus follower, SubjectMetrics subjects) {}
