package dev.weir.engine.internal.matching;

import dev.weir.Binding;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.SubjectLimits;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.rules.PlanLimit;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The numbers that the subjects of one rule can have: the rule's own, those of plans, and those of
 * single subjects. All of them count in one state. Safe for use by many threads.
 */
public final class RuleNumbers {
  /** The most own numbers that are remembered. Any more are made anew, which costs only time. */
  public static final int MAX_REMEMBERED = 4_096;

  /** The number of own numbers that are found without allocating; a power of two. */
  private static final int RECENT = 64;

  /**
   * One of the numbers, or unlimited.
   *
   * @param binding null without a limit
   * @param limit the limit in answers, null without a limit
   * @param possible true if the rule can have it
   */
  record BoundNumber(@Nullable Binding binding, @Nullable CurrentLimit limit, boolean possible) {
    static final BoundNumber UNLIMITED = new BoundNumber(null, null, true);
    static final BoundNumber REFUSED = new BoundNumber(null, null, false);
  }

  private final Store store;
  private final Binding base;
  private final UnaryOperator<Policy> counted;
  private final Policy policy;
  private final BoundNumber own;
  private final CurrentLimit unknown;
  private final CurrentLimit currentLimit;
  private final Set<String> plansKnown;
  private final SubjectCounters counters;
  private final Map<String, BoundNumber> plans = new HashMap<>();
  private final ConcurrentHashMap<Long, BoundNumber> remembered = new ConcurrentHashMap<>();

  private record Recent(long requestsPerUnit, BoundNumber number) {}

  /**
   * The last own numbers, written without a lock on purpose: an entry is immutable, and compared
   * before it is used.
   */
  private final @Nullable Recent[] recent = new Recent[RECENT];

  /**
   * Creates the numbers of a rule.
   *
   * @param base the rule's own binding
   * @param counted returns the policy by which the store counts another one
   * @param currentLimit the rule's own limit
   * @param limits the limits of plans for the rule
   * @param plansKnown the names of all plans of the rule's domain
   * @throws UnsupportedOperationException if the store has no variants of a binding
   */
  RuleNumbers(
      Store store,
      Binding base,
      UnaryOperator<Policy> counted,
      CurrentLimit currentLimit,
      Map<String, PlanLimit> limits,
      Set<String> plansKnown,
      SubjectCounters counters) {
    this.store = store;
    this.base = base;
    this.counted = counted;
    this.policy = currentLimit.policy();
    this.currentLimit = currentLimit;
    this.own = new BoundNumber(base, currentLimit, true);
    this.unknown =
        new CurrentLimit(
            currentLimit.requestsPerUnit(),
            currentLimit.unit(),
            currentLimit.name(),
            currentLimit.policy(),
            currentLimit.queue(),
            LimitOrigin.UNKNOWN);
    this.plansKnown = plansKnown;
    this.counters = counters;
    try {
      Binding unused = store.variant(base, base.policy()); // Fails now if it would fail later.
    } catch (IllegalArgumentException e) {
      throw new UnsupportedOperationException("variant: of this shape", e);
    }
    limits.forEach(
        (plan, limit) -> {
          Policy of = limit.policy();
          plans.put(plan, of == null ? BoundNumber.UNLIMITED : number(of, LimitOrigin.plan(plan)));
        });
  }

  private BoundNumber number(Policy of, LimitOrigin origin) {
    return new BoundNumber(
        store.variant(base, counted.apply(of)),
        new CurrentLimit(
            of.quota().permits(),
            currentLimit.unit(),
            currentLimit.name(),
            of,
            currentLimit.queue(),
            origin),
        true);
  }

  /**
   * Binds all these numbers in the store once more: the rule was put in force anew under its name.
   */
  void renew() {
    plans.values().forEach(this::renew);
    remembered.values().forEach(this::renew);
  }

  private void renew(BoundNumber number) {
    if (number.limit != null) {
      Binding unused = store.variant(base, counted.apply(number.limit.policy()));
    }
  }

  /** Returns the rule's own number. */
  BoundNumber own() {
    return own;
  }

  /** Returns the limit in answers if the number is not known. */
  CurrentLimit unknown() {
    return unknown;
  }

  /** Returns the number that a subject has at an instant. */
  BoundNumber of(SubjectLimits limits, long nowNanos) {
    SubjectLimits.OwnLimit raise = limits.own(policy.name(), nowNanos);
    if (raise != null) {
      BoundNumber number = own(raise.requestsPerUnit());
      if (number.possible()) {
        return number;
      }
      counters.limitsRefused.increment();
    }
    String plan = limits.plan();
    if (plan == null) {
      return own;
    }
    BoundNumber number = plans.get(plan);
    if (number == null) {
      if (!plansKnown.contains(plan)) {
        counters.plansMissing.increment();
      }
      return own;
    }
    return number;
  }

  /** Returns the number by which an answer was decided; unlimited if the answer has no limit. */
  BoundNumber of(@Nullable CurrentLimit decided) {
    if (decided == null) {
      return BoundNumber.UNLIMITED;
    }
    return switch (decided.origin().kind()) {
      case RULE, REQUEST, UNKNOWN -> own;
      case PLAN -> plans.getOrDefault(decided.origin().plan(), own);
      case OWN -> {
        BoundNumber number = own(decided.requestsPerUnit());
        yield number.possible() ? number : own;
      }
    };
  }

  private BoundNumber own(long requestsPerUnit) {
    int slot = (int) ((requestsPerUnit * 0x9e3779b97f4a7c15L) >>> 32) & (RECENT - 1);
    Recent last = recent[slot];
    if (last != null && last.requestsPerUnit == requestsPerUnit) {
      return last.number;
    }
    BoundNumber number = remembered(requestsPerUnit);
    recent[slot] = new Recent(requestsPerUnit, number);
    return number;
  }

  private BoundNumber remembered(long requestsPerUnit) {
    BoundNumber known = remembered.get(requestsPerUnit);
    if (known != null) {
      return known;
    }
    if (remembered.size() >= MAX_REMEMBERED) {
      remembered.clear();
    }
    return remembered.computeIfAbsent(requestsPerUnit, this::made);
  }

  private BoundNumber made(long requestsPerUnit) {
    try {
      return number(policy.withPermits(requestsPerUnit), LimitOrigin.OWN);
    } catch (IllegalArgumentException e) {
      return BoundNumber.REFUSED;
    }
  }
}
