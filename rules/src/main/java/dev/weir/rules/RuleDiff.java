package dev.weir.rules;

import dev.weir.Policy;
import dev.weir.rules.internal.parse.Level;
import dev.weir.rules.internal.parse.Wildcard;
import dev.weir.rules.internal.parse.Words;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The differences between two rule sets, in words. */
final class RuleDiff {
  private final List<String> lines = new ArrayList<>();

  private RuleDiff() {}

  static List<String> of(RuleSet older, RuleSet newer) {
    RuleDiff diff = new RuleDiff();
    diff.domains(older, newer);
    Map<String, Rule> before = byPath(older);
    Map<String, Rule> after = byPath(newer);
    after.forEach(
        (path, rule) -> {
          Rule was = before.get(path);
          if (was == null) {
            diff.lines.add(path + ": added, " + summary(rule));
          } else {
            diff.rule(was, rule);
          }
          diff.plans(rule, was == null ? Map.of() : plans(older, was), plans(newer, rule));
        });
    before.forEach(
        (path, rule) -> {
          if (!after.containsKey(path)) {
            diff.lines.add(path + ": removed, was " + summary(rule));
          }
        });
    diff.order(older, newer);
    return List.copyOf(diff.lines);
  }

  /** Returns rules by path. If an exemption has the same path as a rule, the rule counts. */
  private static Map<String, Rule> byPath(RuleSet set) {
    Map<String, Rule> rules = new LinkedHashMap<>();
    for (Rule rule : set.nodes()) {
      // A node that only leads to others decides nothing, so it is not reported.
      if (rule.limits() || rule.children().rules().isEmpty()) {
        rules.merge(rule.path(), rule, (first, second) -> second.limits() ? second : first);
      }
    }
    return rules;
  }

  private void domains(RuleSet older, RuleSet newer) {
    newer.domains().stream()
        .filter(domain -> !older.hasDomain(domain))
        .forEach(domain -> lines.add("domain " + domain + ": added"));
    older.domains().stream()
        .filter(domain -> !newer.hasDomain(domain))
        .forEach(domain -> lines.add("domain " + domain + ": removed"));
  }

  private void rule(Rule was, Rule is) {
    change(is, "", Words.limit(was), Words.limit(is));
    Policy before = was.policy();
    Policy after = is.policy();
    if (before != null && after != null) {
      change(is, "algorithm ", before.algorithm(), after.algorithm());
      if (after.algorithm().bucket() && before.algorithm().bucket()) {
        change(is, "burst ", before.burst(), after.burst());
      }
      boolean sameWindow = before.quota().windowNanos() == after.quota().windowNanos();
      if (sameWindow && before.granularityNanos() != after.granularityNanos()) {
        change(
            is,
            "granularity ",
            DurationText.format(before.granularityNanos()),
            DurationText.format(after.granularityNanos()));
      }
      change(is, "throttle ", Words.throttle(before), Words.throttle(after));
      change(is, "on_limit ", Words.onLimit(was), Words.onLimit(is));
      change(is, "costs ", Words.lower(was.costs()), Words.lower(is.costs()));
      change(is, "by ", Words.by(was), Words.by(is));
      store(was, is);
      change(is, "consistency ", Words.consistency(before), Words.consistency(after));
      change(is, "on_failure ", Words.onFailure(before), Words.onFailure(after));
      change(is, "max_keys ", maxKeys(before), maxKeys(after));
      change(is, "when_full ", Words.lower(before.whenFull()), Words.lower(after.whenFull()));
    }
    toggle(is, "shadow mode", was.shadowMode(), is.shadowMode());
    toggle(is, "quota mode", was.quotaMode(), is.quotaMode());
    toggle(is, "detailed metric", was.detailedMetric(), is.detailedMetric());
    for (int level = 0; level < is.levels() && level < was.levels(); level++) {
      String of = " of level " + (level + 1);
      toggle(is, "shared threshold" + of, was.sharedAt(level), is.sharedAt(level));
      toggle(is, "value in metric" + of, was.valueToMetricAt(level), is.valueToMetricAt(level));
    }
    change(is, "name ", Words.quoted(was.name()), Words.quoted(is.name()));
    change(is, "replaces ", was.replaces(), is.replaces());
    if (!was.metadata().equals(is.metadata())) {
      lines.add(is.path() + ": metadata changed");
    }
  }

  /** Returns the limit of each plan for a rule, in words. */
  private static Map<String, String> plans(RuleSet set, Rule rule) {
    Map<String, String> words = new LinkedHashMap<>();
    set.planLimits(rule).forEach((plan, limit) -> words.put(plan, Words.limit(rule, limit)));
    return words;
  }

  private void plans(Rule rule, Map<String, String> was, Map<String, String> is) {
    is.forEach(
        (plan, limit) -> {
          if (was.containsKey(plan)) {
            change(rule, plan(plan), Objects.requireNonNull(was.get(plan)), limit);
          } else {
            lines.add(rule.path() + ": " + plan(plan) + "added, " + limit);
          }
        });
    was.forEach(
        (plan, limit) -> {
          if (!is.containsKey(plan)) {
            lines.add(rule.path() + ": " + plan(plan) + "removed, was " + limit);
          }
        });
  }

  private static String plan(String name) {
    return "plan " + Words.quoted(name) + " ";
  }

  private void store(Rule was, Rule is) {
    if (was.store() != is.store()) {
      lines.add(
          "%s: store %s -> %s (counts do not move between stores: for a window, both quotas can be admitted)"
              .formatted(is.path(), was.store().text(), is.store().text()));
    }
  }

  private static String maxKeys(Policy policy) {
    return policy.maxKeys() == Long.MAX_VALUE ? "none" : Long.toString(policy.maxKeys());
  }

  private void change(Rule rule, String what, Object before, Object after) {
    if (!Objects.equals(before, after)) {
      lines.add(rule.path() + ": " + what + before + " -> " + after);
    }
  }

  private void toggle(Rule rule, String what, boolean before, boolean after) {
    if (before != after) {
      lines.add(rule.path() + ": " + what + (after ? " on" : " off"));
    }
  }

  /** Reports a change of the order of patterns, which decides: a change of it alone is a change. */
  private void order(RuleSet older, RuleSet newer) {
    for (String domain : newer.domains()) {
      Level before = older.firstLevel(domain);
      Level after = newer.firstLevel(domain);
      if (before != null && after != null) {
        order(domain, before, after);
      }
    }
  }

  private void order(String path, Level before, Level after) {
    for (String key : after.keys()) {
      List<String> was = patterns(before.withKey(key));
      List<String> is = patterns(after.withKey(key));
      was.retainAll(is);
      List<String> kept = new ArrayList<>(is);
      kept.retainAll(was);
      if (!was.equals(kept)) {
        lines.add(path + "." + key + ": patterns are tried in the order " + String.join(", ", is));
      }
    }
    Map<String, Rule> old = new LinkedHashMap<>();
    before.rules().forEach(rule -> old.put(rule.path(), rule));
    for (Rule rule : after.rules()) {
      Rule was = old.get(rule.path());
      if (was != null) {
        order(rule.path(), was.children(), rule.children());
      }
    }
  }

  private static List<String> patterns(List<Rule> siblings) {
    List<String> patterns = new ArrayList<>();
    for (Rule rule : siblings) {
      if (Wildcard.isPattern(rule.value())) {
        patterns.add(rule.value());
      }
    }
    return patterns;
  }

  private static String summary(Rule rule) {
    Policy policy = rule.policy();
    return Words.limit(rule)
        + (policy == null ? "" : " by " + policy.algorithm() + Words.unusual(rule))
        + (rule.shadowMode() ? ", shadow mode on" : "")
        + (rule.quotaMode() ? ", quota mode on" : "");
  }
}
