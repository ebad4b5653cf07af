package dev.weir.rules;

import dev.weir.rules.internal.parse.Level;
import dev.weir.rules.internal.parse.Plans;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All rules in force at a time, by domain. Immutable and safe to share. */
public final class RuleSet {
  /** The rule set without any rule. */
  public static final RuleSet EMPTY = new RuleSet(Map.of(), Plans.none(), "", RuleDefaults.DENY);

  private final Map<String, Level> domains;
  private final List<Rule> nodes;
  private final List<Rule> rules;
  private final String digest;
  private final RuleDefaults defaults;
  private final boolean patterns;
  private final Map<String, Set<String>> plans;
  private final Map<Rule, Map<String, PlanLimit>> planLimits;

  /**
   * Creates a rule set.
   *
   * @param domains the first level of each domain, in file order
   * @param plans the plans of the files
   * @param digest distinguishes contents of files; empty for rules that come from no file
   */
  public RuleSet(Map<String, Level> domains, Plans plans, String digest, RuleDefaults defaults) {
    this.defaults = defaults;
    this.domains = Collections.unmodifiableMap(new LinkedHashMap<>(domains));
    this.digest = digest;
    List<Rule> all = new ArrayList<>();
    this.domains.values().forEach(level -> collect(level, all));
    nodes = List.copyOf(all);
    rules = all.stream().filter(Rule::limits).toList();
    patterns = this.domains.values().stream().anyMatch(Level::hasPatterns);
    this.plans = plans.names();
    planLimits = plans.limits(rules);
  }

  /** Returns the rule set without any rule, with defaults for limits that requests bring. */
  public static RuleSet empty(RuleDefaults defaults) {
    return new RuleSet(Map.of(), Plans.none(), "", defaults);
  }

  private static void collect(Level level, List<Rule> into) {
    for (Rule rule : level.rules()) {
      into.add(rule);
      collect(rule.children(), into);
    }
  }

  /** Returns the settings for rules that do not set them, and for limits that no rule sets. */
  public RuleDefaults defaults() {
    return defaults;
  }

  /** Returns whether there is no domain. */
  public boolean isEmpty() {
    return domains.isEmpty();
  }

  /** Returns the domains in file order. */
  public Set<String> domains() {
    return domains.keySet();
  }

  public boolean hasDomain(String domain) {
    return domains.containsKey(domain);
  }

  /**
   * Returns the problem of a domain that these rules do not have: {@code domain: "a" (expected: one
   * in the rules: b, c)}.
   */
  public String unknownDomain(String domain) {
    return ValueErrors.line(
        "domain",
        ShownText.quoted(domain),
        "one in the rules: " + ShownText.listed(List.copyOf(domains())));
  }

  /** Returns every rule with a rate_limit, limited or unlimited, in file order. */
  public List<Rule> rules() {
    return rules;
  }

  /** Returns the names of a domain's plans, in file order. */
  public Set<String> plans(String domain) {
    return plans.getOrDefault(domain, Set.of());
  }

  /** Returns the limits of plans for a rule of this set, by the plan's name, in file order. */
  public Map<String, PlanLimit> planLimits(Rule rule) {
    Map<String, PlanLimit> limits = planLimits.get(rule);
    return limits == null ? Map.of() : Collections.unmodifiableMap(limits);
  }

  /**
   * Returns the rule that decides a descriptor, or null if none does. It is the node to which the
   * last entry leads, if that has a rate_limit. On each level the first of these counts: the
   * sibling with exactly this key and value, the first wildcard in file order that matches, the
   * sibling with this key and no value. Allocates nothing.
   *
   * <p>Comparisons with wildcards count in the {@link MatchBudget} of the thread. Once that is
   * spent, no wildcard matches.
   *
   * @param entries a list with fast access by index
   */
  public @Nullable Rule match(String domain, List<Entry> entries) {
    Level level = domains.get(domain);
    Rule node = null;
    for (int i = 0; i < entries.size(); i++) {
      if (level == null) {
        return null;
      }
      Entry entry = entries.get(i);
      node = level.find(entry.key(), entry.value());
      if (node == null) {
        return null;
      }
      level = node.children();
    }
    return node != null && node.limits() ? node : null;
  }

  /**
   * Returns the rule that decides a descriptor, like {@link #match(String, List)}, for entries that
   * are texts: each key with its value behind it.
   *
   * @param count how many of the texts there are, an even number
   */
  public @Nullable Rule match(String domain, String[] keysAndValues, int count) {
    Level level = domains.get(domain);
    Rule node = null;
    for (int i = 0; i < count; i += 2) {
      if (level == null) {
        return null;
      }
      node = level.find(keysAndValues[i], keysAndValues[i + 1]);
      if (node == null) {
        return null;
      }
      level = node.children();
    }
    return node != null && node.limits() ? node : null;
  }

  /** Returns whether the value of any rule has a wildcard. */
  public boolean hasPatterns() {
    return patterns;
  }

  /** Returns the rule that decides a descriptor, and the reasons. */
  public Explanation explain(String domain, List<Entry> entries) {
    return Explainer.explain(this, domain, entries);
  }

  /** Returns the changes from this set to a newer one, in words, one line for each. */
  public List<String> diff(RuleSet newer) {
    return RuleDiff.of(this, newer);
  }

  /** Returns the first level of a domain, or null if there is no such domain. */
  @Nullable Level firstLevel(String domain) {
    return domains.get(domain);
  }

  /** Returns every node, including those without a rate_limit, in file order. */
  List<Rule> nodes() {
    return nodes;
  }

  String digest() {
    return digest;
  }
}
