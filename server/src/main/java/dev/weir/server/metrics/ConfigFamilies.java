package dev.weir.server.metrics;

import dev.weir.config.FollowerStatus;
import dev.weir.engine.SubjectMetrics;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;

/** The metrics of a configuration store, and of the limits of subjects that it holds. */
final class ConfigFamilies {
  private static final double NANOS_PER_SECOND = 1e9;

  private ConfigFamilies() {}

  static void add(Families to, CountedConfig config) {
    follower(to, config.follower());
    subjects(to, config.subjects());
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

  private static void subjects(Families to, SubjectMetrics subjects) {
    to.gauge(
        "weir_subject_waiting", "Subjects whose limits requests wait for now.", subjects.waiting());
    to.counter(
        "weir_subject_loads",
        "How often the limits of a subject were asked for, because they were not at hand.",
        subjects.loads());
    to.counter(
        "weir_subject_late",
        "Of these, how often they were not known in time, or could not be known.",
        subjects.late());
    to.counter(
        "weir_subject_finds_failed",
        "How often an error kept from seeing which limits of a subject are at hand.",
        subjects.findsFailed());
    to.counter(
        "weir_subject_uncertain",
        "Limits of requests that were answered without knowing the subject's number.",
        subjects.uncertain());
    to.counter(
        "weir_subject_overloaded",
        "Of these, those for want of a place to wait.",
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
