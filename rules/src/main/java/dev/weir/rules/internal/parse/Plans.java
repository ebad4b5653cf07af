package dev.weir.rules.internal.parse;

import dev.weir.Policy;
import dev.weir.rules.DurationText;
import dev.weir.rules.PlanLimit;
import dev.weir.rules.Position;
import dev.weir.rules.Room;
import dev.weir.rules.Rule;
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
public final class Plans {
  /*
   * How many limits may plans have, and why? A few lines can mean millions of limits: each limit of
   * a plan is in force once for each rule of its name. So they are counted before any of them is
   * made, and their memory with that of the rules.
   */

  /** The most limits of plans in one rule set; more are a mistake, and each is kept in force. */
  public static final int MAX_LIMITS = 10_000;

  /** The memory of a limit for each rule that it means. */
  static final int LIMIT_BYTES = 1_024;

  /** The memory of a plan besides its name. */
  private static final int PLAN_BYTES = 128;

  /** The value of a window or a burst that a plan does not set. */
  static final long NOT_SAID = -1;

  private final Problems problems;
  private final Room room;
  private final Map<String, Set<String>> names = new LinkedHashMap<>();
  private final Map<List<String>, Draft> drafts = new LinkedHashMap<>();

  private int named;

  Plans(Problems problems, Room room) {
    this.problems = problems;
    this.room = room;
  }

  public static Plans none() {
    Problems problems = new Problems();
    return new Plans(problems, new Room(problems, Long.MAX_VALUE));
  }

  /**
   * The limit of a plan for one rule name.
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
      long burst) {
    /** Returns the rules that have its name. */
    List<Rule> meant(Map<List<String>, List<Rule>> named) {
      return named.getOrDefault(List.of(domain, rule), List.of());
    }
  }

  /** Records that there is a plan, even one without any limit. */
  void named(String domain, String plan, Position position) {
    if (room.full()) {
      return;
    }
    if (names.computeIfAbsent(domain, each -> new LinkedHashSet<>()).add(plan)) {
      named++;
      room.take(PLAN_BYTES + plan.length(), position, "plans", named);
    }
  }

  void add(Draft draft) {
    if (drafts.size() == MAX_LIMITS) {
      room.refuse(
          draft.position, "plans: more limits (expected: at most " + MAX_LIMITS + " in all)");
    }
    if (room.full()) {
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
  public Map<String, Set<String>> names() {
    Map<String, Set<String>> copy = new HashMap<>();
    names.forEach(
        (domain, plans) ->
            copy.put(domain, Collections.unmodifiableSet(new LinkedHashSet<>(plans))));
    return copy;
  }

  /**
   * Returns the limits of plans for each rule, by the plan's name; reports limits that are not
   * possible.
   */
  public Map<Rule, Map<String, PlanLimit>> limits(List<Rule> rules) {
    Map<List<String>, List<Rule>> named = new HashMap<>();
    for (Rule rule : rules) {
      Policy policy = rule.policy();
      if (policy != null) {
        named
            .computeIfAbsent(List.of(rule.domain(), policy.name()), each -> new ArrayList<>(1))
            .add(rule);
      }
    }
    if (!fits(named)) {
      return Map.of();
    }
    boolean lint = problems.errors() == 0; // A rule with an error cannot be found by a policy.
    Map<Rule, Map<String, PlanLimit>> limits = new HashMap<>();
    for (Draft draft : drafts.values()) {
      List<Rule> meant = draft.meant(named);
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

  /** Returns whether there is room for a limit for each rule that each draft means. */
  private boolean fits(Map<List<String>, List<Rule>> named) {
    int limits = 0;
    for (Draft draft : drafts.values()) {
      int meant = draft.meant(named).size();
      limits += meant;
      room.take((long) LIMIT_BYTES * meant, draft.position, "limits in plans", limits);
      if (limits > MAX_LIMITS) {
        room.refuse(
            draft.position,
            "plan %s: more limits with rule %s, the name of %s (expected: at most %d in all, each counted once for each rule that it means)"
                .formatted(
                    Words.quoted(draft.plan),
                    Words.quoted(draft.rule),
                    meant == 1 ? "1 rule" : Words.count(meant) + " rules",
                    MAX_LIMITS));
      }
      if (room.full()) {
        return false;
      }
    }
    return true;
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
