package dev.weir.engine.internal.matching;

import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RoutedStore;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.RulesException;
import dev.weir.engine.internal.leases.LeaseTerms;
import dev.weir.engine.internal.metrics.RuleLabels;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.rules.Problem;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * The bindings of rules' limits in the store, and the rules' counters. Rule sets are changed by one
 * thread at a time.
 */
public final class RuleBindings {
  private static final String NO_VARIANTS =
      "by: the store counts a key under one number only (expected: none)";

  private static final System.Logger LOG = System.getLogger(RuleBindings.class.getName());

  private final RoutedStore store;
  private final Fingerprint fingerprint;
  private final SubjectCounters subjects;
  private final boolean lending;
  private final ConcurrentHashMap<String, RuleLabels> labels = new ConcurrentHashMap<>();

  /**
   * Creates bindings without rules.
   *
   * @param fingerprint the fingerprints of the keys that the rules count
   * @param lending true if permits of rules with {@code consistency: leased} are lent to clients
   */
  public RuleBindings(
      RoutedStore store, Fingerprint fingerprint, SubjectCounters subjects, boolean lending) {
    this.store = store;
    this.lending = lending;
    this.fingerprint = fingerprint;
    this.subjects = subjects;
  }

  /**
   * Puts the limits of a rule set in force instead of those of the same paths before; {@link
   * #retire} takes the others out.
   *
   * @throws RulesException if a rule cannot be bound; everything is then as before, as it is after
   *     any other exception or error
   */
  public Revision bind(Revision before, RuleSet rules, long now) {
    List<Problem> problems = new ArrayList<>();
    for (Rule rule : rules.rules()) {
      if (!store.has(rule.store())) {
        problems.add(problem(rule, limitName(rule) + ": " + RoutedStore.missing(rule.store())));
      }
    }
    if (!problems.isEmpty()) {
      throw new RulesException(problems);
    }
    long number = before.number + 1;
    Map<Rule, BoundRule> bound = new HashMap<>();
    boolean done = false;
    try {
      for (Rule rule : rules.rules()) {
        try {
          bound.put(rule, bind(number, rules, rule, now));
        } catch (IllegalStateException e) {
          problems.add(problem(rule, String.valueOf(e.getMessage())));
        } catch (UnsupportedOperationException e) {
          problems.add(problem(rule, limitName(rule) + ": " + NO_VARIANTS));
        }
      }
      if (!problems.isEmpty()) {
        throw new RulesException(problems);
      }
      Revision after = new Revision(number, rules, bound);
      done = true;
      return after;
    } finally {
      if (!done) {
        bound.clear(); // Memory may have run out, and taking back needs a little.
        takeBack(before, rules, now);
      }
    }
  }

  /**
   * Restores everything to the state before a rule set that did not come into force, whatever
   * exception or error ended its binding. That may also end the taking back of one rule or another.
   */
  private void takeBack(Revision before, RuleSet rules, long now) {
    int left = 0;
    for (Rule rule : rules.rules()) {
      left += before.has(rule.path()) ? 0 : attempt(() -> retire(rule, now));
    }
    for (BoundRule each : before.all()) {
      left += attempt(() -> bindAgain(before, each, now));
    }
    report(left);
  }

  private void bindAgain(Revision before, BoundRule bound, long now) {
    BoundRule unused = bind(before.number, before.rules, bound.rule, now);
    if (bound.numbers != null) {
      bound.numbers.renew();
    }
  }

  /** Returns how many of one task have failed: one or none. */
  private static int attempt(Runnable task) {
    try {
      task.run();
      return 0;
    } catch (RuntimeException | Error e) {
      return 1;
    }
  }

  private static void report(int left) {
    if (left > 0) {
      LOG.log(System.Logger.Level.WARNING, "rules: {0} limits could not be taken back", left);
    }
  }

  private static Problem problem(Rule rule, String message) {
    return new Problem(Severity.ERROR, rule.position(), message);
  }

  private BoundRule bind(long revision, RuleSet rules, Rule rule, long now) {
    RuleLabels labelled = labels.computeIfAbsent(rule.path(), RuleLabels::new);
    Policy policy = rule.policy();
    if (policy == null) {
      return new BoundRule(rule, revision, null, null, null, false, labelled, fingerprint);
    }
    UnaryOperator<Policy> counted = counted(rule);
    Binding binding = store.bind(limitName(rule), counted.apply(policy), rule.store(), now);
    CurrentLimit limit =
        new CurrentLimit(rule.requestsPerUnit(), rule.unit(), rule.name(), policy, rule.queue());
    RuleNumbers numbers =
        rule.byLevel() < 0
            ? null
            : new RuleNumbers(
                store,
                binding,
                counted,
                limit,
                rules.planLimits(rule),
                rules.plans(rule.domain()),
                subjects);
    boolean local = store.decidesHere(binding);
    return new BoundRule(rule, revision, binding, limit, numbers, local, labelled, fingerprint);
  }

  /**
   * Returns how a store counts a policy of a rule: as a hard policy, and permits that may be spent
   * later than they are charged count longer by that time.
   */
  private UnaryOperator<Policy> counted(Rule rule) {
    boolean longer = lending && !store.countsLent(rule.store());
    return longer ? policy -> LeaseTerms.counted(policy.enforced()) : Policy::enforced;
  }

  private static String limitName(Rule rule) {
    return "rule " + rule.path();
  }

  /** Takes the rules out of force whose paths no longer exist. */
  public void retire(Revision before, Revision after, long now) {
    int left = 0;
    for (BoundRule each : before.all()) {
      left += after.has(each.rule.path()) ? 0 : attempt(() -> retire(each.rule, now));
    }
    report(left);
  }

  private void retire(Rule rule, long now) {
    labels.remove(rule.path());
    store.retire(limitName(rule), now);
  }

  /**
   * Returns the counts of the rules, in the order of their paths. Path and name together are
   * unique: a value can make one rule's path read like another's, and then the two are one sum.
   *
   * @param inForce gives the names in answers
   */
  public List<RuleMetrics> metrics(RuleSet inForce) {
    Map<String, String> names = names(inForce);
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

  /**
   * Returns the counts of the rules, one element for each path, in no order.
   *
   * @param inForce gives the names in answers
   */
  public List<RuleMetrics> totals(RuleSet inForce) {
    Map<String, String> names = names(inForce);
    List<RuleMetrics> totals = new ArrayList<>(labels.size());
    labels.forEach((path, each) -> totals.add(each.total(names.getOrDefault(path, path))));
    return totals;
  }

  private static Map<String, String> names(RuleSet inForce) {
    Map<String, String> names = new HashMap<>();
    for (Rule rule : inForce.rules()) {
      if (!rule.name().isEmpty()) {
        names.put(rule.path(), rule.name());
      }
    }
    return names;
  }
}
