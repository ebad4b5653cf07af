package dev.weir.server.internal.metrics;

import dev.weir.config.follow.FollowerStatus;
import dev.weir.config.follow.SubjectCacheStatus;
import dev.weir.engine.SubjectMetrics;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;

/** The metrics of a configuration store, and of the limits of subjects that it holds. */
public final class ConfigFamilies {
  private static final double NANOS_PER_SECOND = 1e9;

  private ConfigFamilies() {}

  /** Adds the counts of the configuration store and of the limits of subjects. */
  public static void add(Families to, CountedConfig config) {
    follower(to, config.follower());
    subjects(to, config.subjects());
    cache(to, config.cache());
  }

  private static void follower(Families to, FollowerStatus follower) {
    to.gauge(
        "weir_config_stale_seconds",
        "Time since the configuration store was heard; what is in force may be older by so much.",
        follower.staleNanos() / NANOS_PER_SECOND);
    to.gauges(
        "weir_config_revision",
        "Revision of the configuration store's rules, by state: applied is in force here, head is"
            + " the newest there.",
        Map.of("applied", follower.appliedRevision(), "head", follower.headRevision()).entrySet(),
        state -> Labels.of("state", state.getKey()),
        Map.Entry::getValue);
    to.gauge(
        "weir_config_problems",
        "Reasons why the newest revision of the rules is not in force here.",
        follower.problems().size());
  }

  private static void cache(Families to, SubjectCacheStatus cache) {
    to.gauge(
        "weir_limits_known", "Subjects with a record whose limits are at hand.", cache.known());
    to.gauge(
        "weir_limits_absent",
        "Subjects of which it is known that they have no record.",
        cache.absent());
    to.gauge(
        "weir_limits_stale",
        "Subjects of weir_limits_known and weir_limits_absent whose record may have changed since"
            + " it was read.",
        cache.stale());
    to.gauge(
        "weir_limits_bytes", "Memory that the table of subjects takes, in bytes.", cache.bytes());
    to.counter("weir_limits_hits", "How often the limits of a subject were at hand.", cache.hits());
    to.counter(
        "weir_limits_misses",
        "How often the limits of a subject were not at hand.",
        cache.misses());
    to.counter(
        "weir_limits_queries",
        "Questions to the configuration store for records, each for up to 100 subjects.",
        cache.queries());
    to.counter(
        "weir_limits_loads",
        "Subjects whose records were asked for by weir_limits_queries_total.",
        cache.loads());
    to.counter(
        "weir_limits_again",
        "Answers that were thrown away because the record changed meanwhile.",
        cache.again());
    to.counter(
        "weir_limits_failures",
        "Questions for records that the configuration store did not answer.",
        cache.failures());
    to.counter(
        "weir_limits_evictions",
        "Subjects that left the table for want of room.",
        cache.evictions());
    to.counter(
        "weir_limits_no_room",
        "Limits that found no room in the table and were used once.",
        cache.noRoom());
    to.counter(
        "weir_limits_unreadable",
        "Records that could not be read, or a part of which cannot be applied here.",
        cache.unreadable());
    to.counter(
        "weir_limits_plans_missing",
        "Records read whose plan is not in the rules.",
        cache.plansMissing());
  }

  private static void subjects(Families to, SubjectMetrics subjects) {
    to.gauge(
        "weir_subject_waiting", "Subjects whose limits requests wait for now.", subjects.waiting());
    to.counter(
        "weir_subject_loads",
        "How often the limits of a subject were asked for, because they were not at hand.",
        subjects.loads());
    to.counter(
        "weir_subject_late",
        "Look-ups of weir_subject_loads_total whose limits were not known in time, or could not be"
            + " known.",
        subjects.late());
    to.counter(
        "weir_subject_finds_failed",
        "How often an error kept from seeing which limits of a subject are at hand.",
        subjects.findsFailed());
    to.counter(
        "weir_subject_uncertain",
        "Limits of requests that were answered UNCERTAIN because the subject's number was not"
            + " known.",
        subjects.uncertain());
    to.counter(
        "weir_subject_overloaded",
        "Limits of requests that were answered OVERLOADED because the subject's number was not"
            + " known, and there was no place to wait for it.",
        subjects.overloaded());
    to.counter(
        "weir_subject_plans_missing",
        "Decisions by a rule's own number because the rules have no such plan as the subject's"
            + " record names.",
        subjects.plansMissing());
    to.counter(
        "weir_subject_limits_refused",
        "Decisions without a subject's own limit because the rule cannot have such a number.",
        subjects.limitsRefused());
  }
}
