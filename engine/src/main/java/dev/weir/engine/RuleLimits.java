package dev.weir.engine;

import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.rules.Problem;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Brings the limits of rules into the store and out of it, and keeps the rules' counters. Rule sets
 * are changed by one thread at a time.
 */
final class RuleLimits {
  private final RoutedStore store;
  private final ConcurrentHashMap<String, RuleLabels> labels = new ConcurrentHashMap<>();

  RuleLimits(RoutedStore store) {
    this.store = store;
  }

  /**
   * Puts the limits of a rule set in force instead of those of the same paths before; {@link
   * #retire} takes the others out.
   *
   * @throws RulesException if a rule cannot be bound; everything is then as before
   */
  InForce bind(InForce before, RuleSet rules, long now) {
    List<Problem> problems = new ArrayList<>();
    for (Rule rule : rules.rules()) {
      if (!store.has(rule.store())) {
        problems.add(problem(rule, limitName(rule) + ": " + RoutedStore.missing(rule.store())));
      }
    }
    if (!problems.isEmpty()) {
      throw new RulesException(problems);
    }
    Map<Rule, InForce.Bound> bound = new HashMap<>();
    for (Rule rule : rules.rules()) {
      try {
        bound.put(rule, bind(rule, now));
      } catch (IllegalStateException e) {
        problems.add(problem(rule, String.valueOf(e.getMessage())));
      }
    }
    if (!problems.isEmpty()) {
      before.all().forEach(old -> bind(old.rule(), now));
      retire(bound.values(), before.rules, now);
      throw new RulesException(problems);
    }
    return new InForce(before.revision + 1, rules, bound);
  }

  private static Problem problem(Rule rule, String message) {
    return new Problem(Severity.ERROR, rule.position(), message);
  }

  private InForce.Bound bind(Rule rule, long now) {
    Policy policy = rule.policy();
    Limit limit =
        policy == null ? null : store.limit(limitName(rule), policy.enforced(), rule.store(), now);
    return new InForce.Bound(rule, limit, labels.computeIfAbsent(rule.path(), RuleLabels::new));
  }

  private static String limitName(Rule rule) {
    return "rule " + rule.path();
  }

  /** Takes those rules out of force whose paths are not among the kept ones. */
  void retire(Collection<InForce.Bound> rules, RuleSet kept, long now) {
    Set<String> paths = new HashSet<>();
    kept.rules().forEach(rule -> paths.add(rule.path()));
    for (InForce.Bound each : rules) {
      String path = each.rule().path();
      if (!paths.contains(path)) {
        store.retire(limitName(each.rule()), now);
        labels.remove(path);
      }
    }
  }

  /**
   * Returns what the rules have counted, in the order of their paths. Path and name together are
   * unique: a value can make one rule's path read like another's, and then the two are one sum.
   *
   * @param inForce says which names their answers carry
   */
  List<RuleMetrics> metrics(RuleSet inForce) {
    Map<String, String> names = new HashMap<>();
    for (Rule rule : inForce.rules()) {
      if (!rule.name().isEmpty()) {
        names.put(rule.path(), rule.name());
      }
    }
    Map<List<String>, RuleMetrics> rules = new HashMap<>();
    labels.forEach(
        (path, each) ->
            each.report(
                names.getOrDefault(path, path),
                counted ->
                    rules.merge(
                        List.of(counted.path(), counted.policy()), counted, RuleMetrics::plus)));
    return rules.values().stream()
        .sorted(Comparator.comparing(RuleMetrics::path).thenComparing(RuleMetrics::policy))
        .toList();
  }
}
