package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.Limit;
import dev.weir.Outcome;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One request on its way: what its descriptors matched, their charges, and then its answer. */
final class Judgement {
  /** Not charged: nothing matched, or there is no limit. */
  private static final int NO_CHARGE = -1;

  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /**
   * One descriptor's case.
   *
   * @param unlimited whether what matched says that there is no limit
   * @param charge its place among the charges, or {@link #NO_CHARGE}
   * @param spare whether the rule is elastic and there is spare capacity: it refuses nobody
   * @param forgiven whether a failure of the store has been answered with allow
   */
  private record Case(
      InForce.@Nullable Bound bound,
      @Nullable Descriptor descriptor,
      @Nullable CurrentLimit limit,
      boolean unlimited,
      int charge,
      boolean spare,
      boolean forgiven) {

    static Case unlimited(InForce.@Nullable Bound bound, boolean unlimited) {
      return new Case(bound, null, null, unlimited, NO_CHARGE, false, false);
    }

    Case forgive() {
      return new Case(bound, descriptor, limit, unlimited, charge, spare, true);
    }
  }

  private final long revision;
  private final boolean domainKnown;
  private final double load;
  private final List<Case> cases;
  private final Charges charges = new Charges();

  /**
   * @param domainKnown whether there are rules for the request's domain
   * @param load at the time, as a {@link dev.weir.LoadSignal} tells it
   */
  Judgement(long revision, boolean domainKnown, int size, double load) {
    this.revision = revision;
    this.domainKnown = domainKnown;
    this.load = load;
    this.cases = new ArrayList<>(size);
  }

  void unmatched() {
    cases.add(Case.unlimited(null, false));
  }

  /** Takes note of a rule that another one replaces; of what it said, {@code unlimited} stays. */
  void replaced(Rule rule) {
    cases.add(Case.unlimited(null, rule.unlimited()));
  }

  void override(Limit limit, LimitOverride override, long fingerprint, long permits) {
    CurrentLimit current =
        new CurrentLimit(override.requestsPerUnit(), override.unit(), "", limit.policy());
    cases.add(new Case(null, null, current, false, charges.size(), false, false));
    charges.add(limit, fingerprint, permits);
  }

  void rule(InForce.Bound bound, Descriptor descriptor, long fingerprint, long permits) {
    Rule rule = bound.rule();
    Policy policy = rule.policy();
    Limit limit = bound.limit();
    if (policy == null || limit == null) {
      cases.add(Case.unlimited(bound, rule.unlimited()));
      return;
    }
    CurrentLimit current =
        new CurrentLimit(rule.requestsPerUnit(), rule.unit(), rule.name(), policy);
    boolean spare = policy.throttle().spare(load);
    cases.add(new Case(bound, descriptor, current, false, charges.size(), spare, false));
    charges.add(limit, fingerprint, permits, role(rule, spare));
  }

  private static Role role(Rule rule, boolean spare) {
    return spare || rule.shadowMode() ? Role.OPTIONAL : rule.quotaMode() ? Role.ANY : Role.REQUIRED;
  }

  Charges charges() {
    // A quota-mode descriptor that answers OK whatever happens (a shadow, an unlimited one) keeps
    // the others in quota mode from refusing.
    for (Case each : cases) {
      if (each.bound != null && each.bound.rule().quotaMode() && alwaysOk(each)) {
        nobodyNeedsToFit();
        break;
      }
    }
    return charges;
  }

  private void nobodyNeedsToFit() {
    for (int i = 0; i < charges.size(); i++) {
      if (charges.role(i) == Role.ANY) {
        charges.role(i, Role.OPTIONAL);
      }
    }
  }

  private boolean alwaysOk(Case each) {
    return each.charge == NO_CHARGE || charges.role(each.charge) == Role.OPTIONAL;
  }

  /**
   * Returns whether the request was refused for want of room where a policy answers that with
   * allow, and should be asked again without that charge's consent. A store in trouble has
   * considered such policies itself.
   */
  boolean forgives(Charges decided) {
    if (decided.allowed()) {
      return false;
    }
    boolean changed = false;
    for (int i = 0; i < cases.size(); i++) {
      Case each = cases.get(i);
      if (each.charge != NO_CHARGE
          && !each.forgiven
          && decided.role(each.charge) != Role.OPTIONAL
          && decided.reason(each.charge) == Reason.KEY_SPACE_FULL
          && decided.forgiven(each.charge)) {
        cases.set(i, each.forgive());
        decided.role(each.charge, Role.OPTIONAL);
        changed = true;
      }
    }
    return changed;
  }

  Answer answer(Charges decided, EngineSettings settings) {
    List<Status> statuses = new ArrayList<>(cases.size());
    for (Case each : cases) {
      statuses.add(status(each, decided, settings));
    }
    boolean shadowed = !decided.allowed() && settings.shadowMode();
    Code code = decided.allowed() || shadowed ? Code.OK : Code.OVER_LIMIT;
    return new Answer(code, statuses, null, revision, shadowed, domainKnown);
  }

  private static Status status(Case each, Charges decided, EngineSettings settings) {
    if (each.limit == null) {
      if (each.bound == null) {
        return each.unlimited ? Status.UNLIMITED_REPLACED : Status.UNMATCHED;
      }
      long remaining = each.unlimited ? Status.UNLIMITED : 0;
      return new Status(Code.OK, each.bound.rule(), null, null, remaining, 0);
    }
    Decision decision = each.limit.policy().told(decided.decision(each.charge), each.spare);
    boolean fits = decided.fits(each.charge) || each.spare;
    boolean shadowed = !fits && each.bound != null && each.bound.rule().shadowMode();
    boolean forgiven = !fits && (each.forgiven || decided.forgiven(each.charge));
    count(each, decided, decision, shadowed && !forgiven, settings);
    long untilReset = untilReset(decision, shadowed || forgiven, each.limit.policy());
    if (forgiven) {
      decision = allowed(decision, decision.reason(), decision.remaining());
    } else if (shadowed) {
      decision = allowed(decision, Reason.SHADOW, 0);
    }
    return new Status(
        decision.allowed() ? Code.OK : Code.OVER_LIMIT,
        each.bound == null ? null : each.bound.rule(),
        decision,
        each.limit,
        decision.remaining(),
        untilReset);
  }

  private static Decision allowed(Decision denied, Reason reason, long remaining) {
    return new Decision(
        Outcome.ALLOWED,
        reason,
        denied.policy(),
        denied.limit(),
        remaining,
        0,
        denied.resetAfterNanos(),
        denied.atNanos());
  }

  private static void count(
      Case each, Charges decided, Decision decision, boolean shadowed, EngineSettings settings) {
    if (each.bound != null && each.descriptor != null) {
      each.bound
          .labels()
          .of(each.bound.rule(), each.descriptor)
          .count(
              decided.permits(each.charge),
              decision,
              decided.fits(each.charge),
              decided.allowed(),
              shadowed,
              settings.nearLimitPercent());
    }
  }

  /**
   * Returns the whole seconds that clients are told. What can never fit is told the whole window:
   * no time helps it, and a short one would have its client ask again and again.
   *
   * @param decision as it is before it is made up for
   * @param passes whether a refusal passes all the same, as a shadow does
   */
  private static long untilReset(Decision decision, boolean passes, Policy policy) {
    boolean refused = !decision.allowed();
    long nanos =
        refused && decision.retryAfterNanos() == Decision.NEVER
            ? policy.quota().windowNanos()
            : refused && !passes ? decision.retryAfterNanos() : decision.resetAfterNanos();
    return Math.max(1, ceilSeconds(nanos));
  }

  private static long ceilSeconds(long nanos) {
    return nanos / NANOS_PER_SECOND + (nanos % NANOS_PER_SECOND > 0 ? 1 : 0);
  }
}
