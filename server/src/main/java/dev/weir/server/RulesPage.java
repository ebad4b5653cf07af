package dev.weir.server;

import dev.weir.Policy;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;

/** Lists the rules in force, one a line, as envoyproxy/ratelimit does. */
final class RulesPage {
  private RulesPage() {}

  static String text(RuleSet rules) {
    StringBuilder text = new StringBuilder();
    for (Rule rule : rules.rules()) {
      text.append(rule.path())
          .append(": ")
          .append(limit(rule))
          .append(", shadow_mode: ")
          .append(rule.shadowMode())
          .append(", quota_mode: ")
          .append(rule.quotaMode())
          .append('\n');
    }
    return text.toString();
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
