package dev.weir.server.internal.http;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.internal.Choice;
import dev.weir.rules.CostMode;
import dev.weir.rules.DurationText;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;

/**
 * The list of the rules in force, one per line, in the form of envoyproxy/ratelimit. With a shared
 * store it also has the store of each rule, its consistency, and its failure mode. Without one, the
 * failure mode is shown only if it is not the default.
 */
public final class RulesPage {
  private RulesPage() {}

  /**
   * Returns the rules in force, one per line.
   *
   * @param shared true if there is a shared store
   */
  public static String text(RuleSet rules, boolean shared) {
    StringBuilder text = new StringBuilder();
    for (Rule rule : rules.rules()) {
      text.append(rule.path())
          .append(": ")
          .append(limit(rule))
          .append(", shadow_mode: ")
          .append(rule.shadowMode())
          .append(", quota_mode: ")
          .append(rule.quotaMode())
          .append(throttle(rule))
          .append(onLimit(rule))
          .append(rule.costs() == CostMode.BEFORE ? "" : ", costs: " + Choice.text(rule.costs()))
          .append(shared ? sharing(rule) : alone(rule))
          .append('\n');
    }
    return text.toString();
  }

  private static String throttle(Rule rule) {
    Policy policy = rule.policy();
    return policy == null || policy.throttle().isHard() ? "" : ", throttle: " + policy.throttle();
  }

  private static String onLimit(Rule rule) {
    QueueBounds queue = rule.queue();
    return queue == null
        ? ""
        : ", on_limit: queue requests="
            + queue.requests()
            + " wait="
            + DurationText.format(queue.waitNanos());
  }

  private static String alone(Rule rule) {
    Policy policy = rule.policy();
    return policy != null && policy.sharing().onFailure() == FailureMode.ALLOW
        ? ", on_failure: allow"
        : "";
  }

  private static String sharing(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return "";
    }
    if (rule.store() == StoreChoice.LOCAL) {
      return ", store: local, on_failure: " + Choice.text(policy.sharing().onFailure());
    }
    String interval =
        policy.sharing().consistency() == Consistency.STRICT
            ? ""
            : " sync_interval=" + DurationText.format(policy.sharing().syncIntervalNanos());
    String share =
        policy.sharing().onFailure() == FailureMode.LOCAL
            ? " local_share=" + policy.sharing().localShare()
            : "";
    return ", store: shared, consistency: "
        + policy.sharing().consistency().text()
        + interval
        + ", on_failure: "
        + Choice.text(policy.sharing().onFailure())
        + share;
  }

  /**
   * Returns a rule's limit. Window and multiplier, which envoyproxy/ratelimit does not have, are
   * shown only for rules that use them.
   */
  private static String limit(Rule rule) {
    Policy policy = rule.policy();
    if (rule.unlimited() || policy == null) {
      return "unlimited";
    }
    if (policy.algorithm() == Algorithm.CONCURRENCY) {
      return "concurrency="
          + policy.quota().permits()
          + " hold="
          + DurationText.format(policy.quota().windowNanos());
    }
    RateLimitUnit unit = rule.unit();
    String window =
        unit == null
            ? "window=" + DurationText.format(policy.quota().windowNanos())
            : rule.unitMultiplier() == 1
                ? "unit=" + unit
                : "unit=" + unit + " unit_multiplier=" + rule.unitMultiplier();
    return window + " requests_per_unit=" + rule.requestsPerUnit();
  }
}
