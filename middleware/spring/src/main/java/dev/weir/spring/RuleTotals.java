package dev.weir.spring;

import dev.weir.Policy;
import dev.weir.engine.RuleMetrics;
import dev.weir.rules.Rule;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The counts of rules, once for each rule: a rule may have counters for single values, and those
 * are not shown.
 */
final class RuleTotals {
  private RuleTotals() {}

  /** Returns the sums by the name of the policy. */
  static Map<String, RuleMetrics> of(List<RuleMetrics> rules) {
    Map<String, RuleMetrics> sums = new LinkedHashMap<>();
    for (RuleMetrics each : rules) {
      sums.merge(each.policy(), each, RuleMetrics::plus);
    }
    return sums;
  }

  /** Returns the name under which a rule's counts are found. */
  static String name(Rule rule) {
    Policy policy = rule.policy();
    return policy == null ? rule.path() : policy.name();
  }

  /** Returns the six classes; every permit is in exactly one of them. */
  static Map<String, Long> classes(RuleMetrics counted) {
    Map<String, Long> classes = new LinkedHashMap<>();
    classes.put("withinLimit", counted.withinLimit());
    classes.put("tolerated", counted.tolerated());
    classes.put("overLimit", counted.overLimit());
    classes.put("incomplete", counted.incomplete());
    classes.put("refusedByOther", counted.refusedByOther());
    classes.put("undecided", counted.undecided());
    return classes;
  }

  /** Returns the name of a class in the form of a tag: {@code within_limit}. */
  static String tag(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
