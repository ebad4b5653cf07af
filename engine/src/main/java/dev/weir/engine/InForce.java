package dev.weir.engine;

import dev.weir.Limit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One revision of the rules with the limits that they have in the store. Immutable. */
final class InForce {
  /**
   * A rule with all that judging by it needs.
   *
   * @param limit null where the rule has no policy
   */
  record Bound(Rule rule, @Nullable Limit limit, RuleLabels labels) {}

  static final InForce NOTHING = new InForce(0, RuleSet.EMPTY, Map.of());

  final long revision;
  final RuleSet rules;

  /** Whether any rule listens to the load. */
  final boolean elastic;

  private final Map<Rule, Bound> bound;
  private final Set<String> paths;

  InForce(long revision, RuleSet rules, Map<Rule, Bound> bound) {
    this.revision = revision;
    this.rules = rules;
    this.bound = Map.copyOf(bound);
    paths = bound.keySet().stream().map(Rule::path).collect(Collectors.toUnmodifiableSet());
    elastic =
        bound.keySet().stream()
            .map(Rule::policy)
            .anyMatch(policy -> policy != null && policy.throttle().isElastic());
  }

  Bound of(Rule rule) {
    Bound found = bound.get(rule);
    if (found == null) {
      throw new IllegalStateException("rule " + rule.path() + ": not of revision " + revision);
    }
    return found;
  }

  /** Returns whether there is a rule with that path. */
  boolean has(String path) {
    return paths.contains(path);
  }

  Collection<Bound> all() {
    return bound.values();
  }
}
