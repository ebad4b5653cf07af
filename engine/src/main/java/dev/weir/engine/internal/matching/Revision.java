package dev.weir.engine.internal.matching;

import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** One rule set in force: its number, and its rules bound to the store. Immutable. */
public final class Revision {
  /** The revision before the first rule set. */
  public static final Revision NONE = new Revision(0, RuleSet.EMPTY, Map.of());

  /** The number, counted from 1. */
  public final long number;

  public final RuleSet rules;

  /** True if any rule depends on the load. */
  public final boolean elastic;

  /** True if any rule replaces others. */
  final boolean replacing;

  /** The bound rules by identity, which is how rules are equal, and faster. */
  private final IdentityHashMap<Rule, BoundRule> bound = new IdentityHashMap<>();

  private final Set<String> paths;

  /** The names of rules that others may replace. */
  private final Set<String> replaced;

  Revision(long number, RuleSet rules, Map<Rule, BoundRule> bound) {
    this.number = number;
    this.rules = rules;
    bound.forEach(this.bound::put);
    paths = bound.keySet().stream().map(Rule::path).collect(Collectors.toUnmodifiableSet());
    elastic =
        bound.keySet().stream()
            .map(Rule::policy)
            .anyMatch(policy -> policy != null && policy.throttle().isElastic());
    replaced =
        bound.keySet().stream()
            .flatMap(rule -> rule.replaces().stream())
            .collect(Collectors.toUnmodifiableSet());
    replacing = !replaced.isEmpty();
  }

  BoundRule of(Rule rule) {
    BoundRule found = bound.get(rule);
    if (found == null) {
      throw new IllegalStateException("rule " + rule.path() + ": not of revision " + number);
    }
    return found;
  }

  /** Returns whether a rule for another descriptor of the request may replace a rule. */
  public boolean mayBeReplaced(Rule rule) {
    return replacing && replaced.contains(rule.name());
  }

  /** Returns whether there is a rule with that path. */
  boolean has(String path) {
    return paths.contains(path);
  }

  Collection<BoundRule> all() {
    return Collections.unmodifiableCollection(bound.values());
  }
}
