package dev.weir.engine.internal.matching;

import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.internal.UncertainCause;
import dev.weir.rules.CostMode;
import dev.weir.rules.Descriptor;
import dev.weir.rules.UnknownSubject;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One descriptor of a {@link PendingRequest}, with its limit, and with its outcome once the request
 * has been decided.
 */
public final class Match {
  /** The place of a charge that does not exist: nothing matched, or there is no limit. */
  public static final int NO_CHARGE = -1;

  /** The retry-after of a limit whose number is not known. */
  private static final long RETRY_UNKNOWN_NANOS = 1_000_000_000L;

  @Nullable Descriptor descriptor;
  @Nullable BoundRule bound;

  /** The limit of the descriptor, or null if nothing limits it. */
  @Nullable CurrentLimit limit;

  /** The place among the charges, or {@link #NO_CHARGE}. */
  int charge;

  /** True if another rule of the request replaces the one that matched. */
  boolean replaced;

  /** True if the rule is elastic and there is spare capacity: it refuses no request. */
  boolean spare;

  /** True if the rule has a limit, but the request's subject has none by it. */
  boolean unlimited;

  /** The permits of requests that wait for this key; more than 0 refuses this one. */
  long permitsAhead;

  /** The permits to give back; more than 0 only for a descriptor that gives some back. */
  long refund;

  /** The reason why the limit's number is not known, or null if it is. There is no charge then. */
  @Nullable Reason undecided;

  /** The role, as that of a charge, if the limit's number is not known. */
  @Nullable Role role;

  /** The permits that the descriptor requests, if the limit's number is not known. */
  long permits;

  void set(@Nullable Descriptor newDescriptor, @Nullable BoundRule newBound) {
    descriptor = newDescriptor;
    bound = newBound;
    limit = null;
    charge = NO_CHARGE;
    replaced = false;
    spare = false;
    unlimited = false;
    permitsAhead = 0;
    refund = 0;
    undecided = null;
    role = null;
    permits = 0;
  }

  /** Returns the status of a descriptor without a limit. */
  Status withoutLimit() {
    if (bound == null) {
      return Status.UNMATCHED;
    }
    if (unlimited) {
      return Status.unlimited(bound.rule);
    }
    if (replaced) {
      return bound.rule.unlimited() ? Status.UNLIMITED_REPLACED : Status.UNMATCHED;
    }
    return bound.withoutLimit;
  }

  /** Returns the outcome of the descriptor. */
  Status status(Charges charges, long nowNanos) {
    return limit == null ? withoutLimit() : status(decision(charges, nowNanos), charges);
  }

  /** Returns the outcome of the descriptor by the {@link #decision} on its limit. */
  Status status(Decision own, Charges charges) {
    boolean forgiven = forgiven(charges);
    boolean shadowed = shadowed(charges);
    long untilReset = Status.untilReset(own, shadowed || forgiven, limit().policy());
    Decision decision = own;
    if (forgiven) {
      decision = Status.allowed(own, own.reason(), own.remaining());
    } else if (shadowed) {
      decision = Status.allowed(own, Reason.SHADOW, 0);
    }
    return new Status(
        decision.allowed(),
        bound == null ? null : bound.rule,
        decision,
        limit,
        decision.remaining(),
        untilReset);
  }

  /** Returns the decision before a shadow or another exception lets it pass. */
  Decision decision(Charges charges, long nowNanos) {
    Decision own = undecided == null ? charges.decision(charge) : unknown(undecided, nowNanos);
    return limit().policy().throttled(own, spare);
  }

  /** Counts the {@link #decision} for the rule, if the limit is a rule's. */
  void count(Decision decision, Charges charges, int nearLimitPercent) {
    if (bound == null || descriptor == null) {
      return;
    }
    boolean known = undecided == null;
    bound
        .counters(descriptor)
        .count(
            known ? charges.permits(charge) : permits,
            decision.reason(),
            decision.limit(),
            decision.remaining(),
            known && charges.fits(charge),
            charges.allowed(),
            shadowed(charges) && !forgiven(charges),
            nearLimitPercent);
  }

  /** Returns whether requests hold permits of the rule, and settle them afterwards. */
  boolean isHeld() {
    return bound != null && bound.rule.costs() == CostMode.HELD;
  }

  boolean isShadow() {
    return spare || (bound != null && bound.rule.shadowMode());
  }

  private CurrentLimit limit() {
    return Objects.requireNonNull(limit, "limit");
  }

  private Decision unknown(Reason why, long nowNanos) {
    Policy policy = limit().policy();
    return new Decision(
        false,
        why,
        why == Reason.UNCERTAIN ? UncertainCause.SUBJECT : "",
        policy.name(),
        policy.enforced().burst(),
        0,
        RETRY_UNKNOWN_NANOS,
        0,
        nowNanos,
        List.of());
  }

  private boolean fits(Charges charges) {
    return spare || (undecided == null && charges.fits(charge));
  }

  private boolean shadowed(Charges charges) {
    return bound != null && bound.rule.shadowMode() && !fits(charges);
  }

  private boolean forgiven(Charges charges) {
    return !fits(charges) && (undecided == null ? charges.forgiven(charge) : forgiven());
  }

  /**
   * Returns whether the request passes although the number of this limit is not known. {@code
   * unknown: deny} refuses it whatever {@code on_failure} is.
   */
  boolean forgiven() {
    return limit != null
        && limit.policy().sharing().onFailure() == FailureMode.ALLOW
        && (bound == null || bound.rule.unknown() != UnknownSubject.DENY);
  }
}
