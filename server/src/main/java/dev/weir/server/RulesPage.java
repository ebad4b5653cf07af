package dev.weir.server;

import dev.weir.Consistency;
import dev.weir.FailureAnswer;
import dev.weir.Policy;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;
import java.time.Duration;
import java.util.Locale;

/**
 * Lists the rules in force, one a line, as envoyproxy/ratelimit does; with a shared store, also
 * where each is counted, how closely servers keep together, and what is answered without it.
 * Without one, what is answered in trouble is said only where it is not the usual refusal.
 */
final class RulesPage {
  private RulesPage() {}

  /**
   * @param shared whether there is a shared store
   */
  static String text(RuleSet rules, boolean shared) {
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
          .append(shared ? sharing(rule) : alone(rule))
          .append('\n');
    }
    return text.toString();
  }

  private static String throttle(Rule rule) {
    Policy policy = rule.policy();
    return policy == null || policy.throttle().isHard() ? "" : ", throttle: " + policy.throttle();
  }

  private static String alone(Rule rule) {
    Policy policy = rule.policy();
    return policy != null && policy.onFailure() == FailureAnswer.ALLOW ? ", on_failure: allow" : "";
  }

  private static String sharing(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return "";
    }
    if (rule.store() == StoreChoice.LOCAL) {
      return ", store: local, on_failure: " + lower(policy.onFailure());
    }
    String interval =
        policy.consistency() == Consistency.STRICT
            ? ""
            : " sync_interval=" + SettingKind.text(Duration.ofNanos(policy.syncIntervalNanos()));
    String share =
        policy.onFailure() == FailureAnswer.LOCAL ? " local_share=" + policy.localShare() : "";
    return ", store: redis, consistency: "
        + policy.consistency().text()
        + interval
        + ", on_failure: "
        + lower(policy.onFailure())
        + share;
  }

  /** Returns a constant as rule files write it. */
  static String lower(FailureAnswer answer) {
    return answer.name().toLowerCase(Locale.ROOT);
  }

  /** What the original cannot say, a window and a multiplier, is said only where a rule has it. */
  private static String limit(Rule rule) {
    Policy policy = rule.policy();
    if (rule.unlimited() || policy == null) {
      return "unlimited";
    }
    RateLimitUnit unit = rule.unit();
    String window =
        unit == null
            ? "window=" + SettingKind.text(policy.quota().window())
            : rule.unitMultiplier() == 1
                ? "unit=" + unit
                : "unit=" + unit + " unit_multiplier=" + rule.unitMultiplier();
    return window + " requests_per_unit=" + rule.requestsPerUnit();
  }
}
