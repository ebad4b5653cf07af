package dev.weir.config.internal.follow;

import dev.weir.Ticker;
import dev.weir.config.OwnLimit;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.follow.SubjectCacheStatus;
import dev.weir.engine.SubjectLimits;
import dev.weir.rules.PlanLimit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The conversion of records to the engine's limits. Its callers hold a lock. */
public final class RecordLimits {
  /** Enough to find an error that affects a million records. */
  public static final int MAX_PROBLEMS = 100;

  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  private static final int MAX_PLANS = 10_000;
  private static final long LOG_EVERY_NANOS = 60_000_000_000L;

  private final StoreClock clock;
  private final Ticker ticker;

  /**
   * One object for each plan of a record without own limits, up to as many plans as any rules have.
   */
  private final Map<String, SubjectLimits> plans = new HashMap<>();

  private final Map<Subject, String> problems = new LinkedHashMap<>();
  private @Nullable RuleSet rules;
  private Map<String, Map<String, List<Rule>>> byName = Map.of();
  private long unreadable;
  private long plansMissing;
  private boolean logged;
  private long loggedAtNanos;

  public RecordLimits(StoreClock clock, Ticker ticker) {
    this.clock = clock;
    this.ticker = ticker;
  }

  /** Sets the rules in force: they tell raises from cuts, and name the plans. */
  public void rules(RuleSet newRules) {
    Map<String, Map<String, List<Rule>>> names = new HashMap<>();
    for (Rule rule : newRules.rules()) {
      String name = rule.name().isEmpty() ? rule.path() : rule.name();
      names
          .computeIfAbsent(rule.domain(), domain -> new HashMap<>())
          .computeIfAbsent(name, of -> new ArrayList<>(1))
          .add(rule);
    }
    rules = newRules;
    byName = names;
  }

  /** Returns the limits of a subject in a store's answer. */
  public SubjectLimits of(Subject subject, Records answer) {
    String why = answer.unreadable().get(subject);
    if (why != null) {
      unreadable++;
      problem(subject, "unreadable, the rules' own numbers hold: " + why);
      return SubjectLimits.NONE;
    }
    problems.remove(subject);
    SubjectRecord record = answer.found().get(subject);
    return record == null ? SubjectLimits.NONE : of(record);
  }

  private SubjectLimits of(SubjectRecord record) {
    Subject subject = record.subject();
    String plan = record.plan().isEmpty() ? null : record.plan();
    if (plan != null && rules != null && !rules.plans(subject.domain()).contains(plan)) {
      plansMissing++;
      problem(subject, "plan " + plan + ": not there, the rules' own numbers hold");
    }
    if (plan != null && record.limits().isEmpty()) {
      if (plans.size() >= MAX_PLANS) {
        plans.clear();
      }
      return plans.computeIfAbsent(plan, name -> new SubjectLimits(name, Map.of()));
    }
    Map<String, SubjectLimits.OwnLimit> own = new HashMap<>();
    for (OwnLimit limit : record.limits()) {
      if (limit.window() == null && limit.burst() == null) {
        own.put(
            limit.rule(),
            new SubjectLimits.OwnLimit(limit.requestsPerUnit(), endNanos(subject, plan, limit)));
      } else {
        unreadable++;
        problem(
            subject,
            limit.rule() + ": a window or a burst of its own (expected: the rule's); ignored");
      }
    }
    return plan == null && own.isEmpty() ? SubjectLimits.NONE : new SubjectLimits(plan, own);
  }

  /**
   * Returns the end of a limit on the ticker's scale: the end of a raise may be too early, that of
   * a cut too late.
   */
  private long endNanos(Subject subject, @Nullable String plan, OwnLimit limit) {
    Instant until = limit.until();
    return until == null
        ? Long.MAX_VALUE
        : clock.endNanos(until, limit.requestsPerUnit() >= afterwards(subject, plan, limit));
  }

  /**
   * Returns the number that holds after a limit's end: if several rules have the name, the
   * smallest; for an unknown rule, none.
   */
  private long afterwards(Subject subject, @Nullable String plan, OwnLimit limit) {
    List<Rule> named =
        byName.getOrDefault(subject.domain(), Map.of()).getOrDefault(limit.rule(), List.of());
    if (named.isEmpty()) {
      return limit.requestsPerUnit() == 0 ? Long.MAX_VALUE : 0;
    }
    return named.stream().mapToLong(rule -> without(rule, plan)).min().orElseThrow();
  }

  /** Returns the number of a rule for a subject without a limit of its own. */
  private long without(Rule rule, @Nullable String plan) {
    RuleSet set = rules;
    PlanLimit planned = plan == null || set == null ? null : set.planLimits(rule).get(plan);
    if (planned == null) {
      return rule.unlimited() ? Long.MAX_VALUE : rule.requestsPerUnit();
    }
    return planned.unlimited() ? Long.MAX_VALUE : planned.requestsPerUnit();
  }

  private void problem(Subject subject, String message) {
    long now = ticker.nanos();
    if (!logged || now - loggedAtNanos >= LOG_EVERY_NANOS) { // The status names the subjects.
      logged = true;
      loggedAtNanos = now;
      LOG.log(
          System.Logger.Level.WARNING,
          "record of a {0} in {1}: {2}",
          subject.key(),
          subject.domain(),
          message);
    }
    problems.remove(subject);
    if (problems.size() >= MAX_PROBLEMS) {
      problems.remove(problems.keySet().iterator().next());
    }
    problems.put(subject, message);
  }

  public long unreadable() {
    return unreadable;
  }

  public long plansMissing() {
    return plansMissing;
  }

  public List<SubjectCacheStatus.Problem> problems() {
    return problems.entrySet().stream()
        .map(each -> new SubjectCacheStatus.Problem(each.getKey(), each.getValue()))
        .toList();
  }
}
