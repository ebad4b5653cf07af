package dev.weir.rules;

import dev.weir.Policy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The plans of all files: first as they are written, then for the rules that they name. Used by one
 * thread.
 */
final class Plans {
  /** More limits of plans than this in one rule set are a mistake; each is kept in force. */
  static final int MAX_LIMITS = 10_000;

  /** Stands for a window or a burst that a plan does not say. */
  static final long NOT_SAID = -1;

  private final Problems problems;
  private final Map<String, Set<String>> names = new LinkedHashMap<>();
  private final Map<List<String>, Draft> drafts = new LinkedHashMap<>();

  Plans(Problems problems) {
    this.problems = problems;
  }

  /**
   * What a plan says for one rule name.
   *
   * @param position of the rule's name
   * @param windowNanos 0 after a problem, or {@link #NOT_SAID}
   */
  record Draft(
      String domain,
      String plan,
      String rule,
      Position position,
      Fields fields,
      boolean unlimited,
      long requestsPerUnit,
      long windowNanos,
      long burst) {}

  /** Notes that there is a plan, be it without any limit. */
  void named(String domain, String plan) {
    names.computeIfAbsent(domain, each -> new LinkedHashSet<>()).add(plan);
  }

  void add(Draft draft) {
    if (drafts.size() == MAX_LIMITS) {
      problems.error(
          draft.position, "plans: more limits (expected: at most " + MAX_LIMITS + " in all)");
      return;
    }
    Draft first = drafts.putIfAbsent(List.of(draft.domain, draft.plan, draft.rule), draft);
    if (first != null) {
      problems.error(
          draft.position,
          "plan %s: names rule %s once more, as at %s (expected: once)"
              .formatted(Words.quoted(draft.plan), Words.quoted(draft.rule), first.position));
    }
  }

  /** Returns the names of plans by domain, in file order. */
  Map<String, Set<String>> names() {
    Map<String, Set<String>> copy = new HashMap<>();
    names.forEach(
        (domain, plans) ->
            copy.put(domain, Collections.unmodifiableSet(new LinkedHashSet<>(plans))));
    return copy;
  }

  /** Returns what plans say for each rule, by the plan's name; reports what they cannot say. */
  Map<Rule, Map<String, PlanLimit>> limits(List<Rule> rules) {
    Map<List<String>, List<Rule>> named = new HashMap<>();
    for (Rule rule : rules) {
      Policy policy = rule.policy();
      if (policy != null) {
        named
            .computeIfAbsent(List.of(rule.domain(), policy.name()), each -> new ArrayList<>(1))
            .add(rule);
      }
    }
    boolean lint = problems.errors() == 0; // A rule with an error has no policy to be found by.
    Map<Rule, Map<String, PlanLimit>> limits = new HashMap<>();
    for (Draft draft : drafts.values()) {
      List<Rule> meant = named.getOrDefault(List.of(draft.domain, draft.rule), List.of());
      if (meant.isEmpty() && lint) {
        problems.warning(
            draft.position,
            "%s: no rule (expected: the name of a rule in domain %s, or the path of one without a name; plan %s limits nothing by this)"
                .formatted(
                    Words.shown(draft.rule), Words.shown(draft.domain), Words.quoted(draft.plan)));
      }
      for (Rule rule : meant) {
        if (rule.byLevel() != SubjectFields.NONE) {
          limit(draft, rule, limits);
        } else if (lint) {
          problems.warning(
              draft.position,
              "%s: a rule without by (expected: by, in the rule at %s; without it the numbers are the same for all)"
                  .formatted(Words.shown(draft.rule), rule.position()));
        }
      }
    }
    return limits;
  }

  private void limit(Draft draft, Rule rule, Map<Rule, Map<String, PlanLimit>> limits) {
    Policy policy = draft.unlimited ? null : policy(draft, rule);
    if (policy != null || draft.unlimited) {
      limits
          .computeIfAbsent(rule, each -> new LinkedHashMap<>())
          .put(draft.plan, new PlanLimit(policy, draft.requestsPerUnit, draft.position));
    }
  }

  private @Nullable Policy policy(Draft draft, Rule rule) {
    Policy own = Objects.requireNonNull(rule.policy());
    long window = own.quota().windowNanos();
    if (draft.windowNanos != NOT_SAID && draft.windowNanos != window) {
      draft.fields.error(
          "window",
          "%s, the window of rule %s; another is not yet counted"
              .formatted(DurationText.format(window), Words.shown(draft.rule)));
      return null;
    }
    if (draft.burst != NOT_SAID && !own.algorithm().bucket()) {
      draft.fields.error(
          "burst",
          "none with " + own.algorithm() + ", only token-bucket and leaky-bucket have one");
      return null;
    }
    if (draft.burst != NOT_SAID && draft.burst != draft.requestsPerUnit) {
      draft.fields.error(
          "burst",
          "none, or "
              + draft.requestsPerUnit
              + " as requests_per_unit; another is not yet counted");
      return null;
    }
    try {
      return own.withPermits(draft.requestsPerUnit);
    } catch (IllegalArgumentException e) {
      problems.error(draft.fields.position("requests_per_unit"), String.valueOf(e.getMessage()));
      return null;
    }
  }
}
