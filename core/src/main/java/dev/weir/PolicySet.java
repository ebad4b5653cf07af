package dev.weir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The policies of a limiter that are in force together, each with its binding, and the combination
 * of their answers into one. Immutable: a change replaces the whole set.
 */
final class PolicySet {
  private final Policy[] policies;
  private final Binding[] bindings;
  private final boolean elastic;

  /** The only policy's binding, or null if there are several. */
  final @Nullable Binding only;

  /**
   * The receiver of decisions, or null. It is a field of this class so that a decision reads one
   * volatile field, not two.
   */
  final @Nullable LimiterListener listener;

  private PolicySet(Policy[] policies, Binding[] bindings, @Nullable LimiterListener listener) {
    this.policies = policies;
    this.bindings = bindings;
    this.listener = listener;
    this.only = bindings.length == 1 ? bindings[0] : null;
    boolean any = false;
    for (Policy policy : policies) {
      any |= policy.throttle().isElastic();
    }
    this.elastic = any;
  }

  /**
   * Puts policies in force in place of those of an earlier set: all of them, or none if the store
   * refuses one. Names that the new set does not have are taken out of force.
   *
   * @throws IllegalStateException if {@link Store#bind} throws it
   */
  static PolicySet bind(Store store, Policy[] policies, @Nullable PolicySet before, long now) {
    Binding[] bindings = new Binding[policies.length];
    for (int i = 0; i < policies.length; i++) {
      try {
        bindings[i] = store.bind(policies[i].name(), policies[i].enforced(), now);
      } catch (RuntimeException e) {
        undo(store, policies, i, before, now);
        throw e;
      }
    }
    PolicySet bound = new PolicySet(policies, bindings, before == null ? null : before.listener);
    if (bindings.length > 1 && !bound.elastic) { // Spare capacity is for one of them alone.
      store.colocate(List.of(bindings));
    }
    return bound;
  }

  private static void undo(
      Store store, Policy[] policies, int bound, @Nullable PolicySet before, long now) {
    for (int i = 0; i < bound; i++) {
      Binding earlier = before == null ? null : before.binding(policies[i].name());
      if (earlier != null) {
        store.bind(earlier.name(), earlier.policy(), now);
      } else {
        store.retire(policies[i].name(), now);
      }
    }
  }

  /** Takes the names out of force that the next set does not have. */
  void retire(Store store, PolicySet next, long now) {
    for (Policy policy : policies) {
      if (next.binding(policy.name()) == null) {
        store.retire(policy.name(), now);
      }
    }
  }

  PolicySet hearing(LimiterListener listener) {
    return new PolicySet(policies, bindings, listener);
  }

  int size() {
    return policies.length;
  }

  Policy policy(int i) {
    return policies[i];
  }

  Binding binding(int i) {
    return bindings[i];
  }

  /** Returns the bindings, not to be changed. */
  Binding[] bindings() {
    return bindings;
  }

  private @Nullable Binding binding(String name) {
    for (int i = 0; i < policies.length; i++) {
      if (policies[i].name().equals(name)) {
        return bindings[i];
      }
    }
    return null;
  }

  List<Policy> policies() {
    return List.of(policies);
  }

  /** Returns whether the load matters to any of them. */
  boolean elastic() {
    return elastic;
  }

  private boolean spare(int i, double load) {
    Throttle throttle = policies[i].throttle();
    return throttle.isElastic() && throttle.spare(load);
  }

  /** Returns whether the first policy admits every request at that load. */
  boolean spare(double load) {
    return spare(0, load);
  }

  /** Adds a charge for each policy; one with spare capacity is charged only if it has room. */
  Charges addTo(Charges charges, long fingerprint, long permits, double load) {
    for (int i = 0; i < bindings.length; i++) {
      boolean spare = elastic && spare(i, load);
      charges.add(
          bindings[i], fingerprint, permits, spare ? Charges.Role.OPTIONAL : Charges.Role.REQUIRED);
    }
    return charges;
  }

  /** Adds a report for each policy; one with spare capacity refuses nothing. */
  Charges addReportsTo(Charges charges, long fingerprint, long permits, double load) {
    for (int i = 0; i < bindings.length; i++) {
      boolean spare = elastic && spare(i, load);
      charges.add(
          bindings[i],
          fingerprint,
          permits,
          spare ? Charges.Role.REPORTED_SHADOW : Charges.Role.REPORTED);
    }
    return charges;
  }

  /** Returns the decision on a request to which {@link #addTo} added the charges. */
  Decision decision(Charges charges, double load) {
    if (policies.length == 1) {
      return part(charges, 0, load);
    }
    Decision[] parts = new Decision[policies.length];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = part(charges, i, load);
    }
    boolean allowed = charges.allowed();
    List<Decision> all = List.of(parts); // A list that the decision need not copy.
    return whole(allowed, all, allowed ? scarcest(all) : slowest(charges));
  }

  /** Returns the decision on a request of which the store has given each quota's own result. */
  Decision decision(QuotaResults results) {
    int slowest = results.slowest(policies.length);
    List<Decision> parts =
        policies.length == 2
            ? List.of(part(results, 0), part(results, 1))
            : List.of(part(results, 0), part(results, 1), part(results, 2));
    return whole(slowest < 0, parts, slowest < 0 ? scarcest(parts) : slowest);
  }

  private Decision part(QuotaResults results, int i) {
    Policy counted = bindings[i].policy();
    boolean fits = results.fits(i);
    Decision part =
        new Decision(
            fits,
            fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
            counted.name(),
            counted.burst(),
            results.remaining(i),
            results.retryAfterNanos(i),
            results.resetAfterNanos(i),
            results.atNanos(i));
    return policies[i].throttled(part, false);
  }

  private Decision part(Charges charges, int i, double load) {
    return policies[i].throttled(charges.decision(i), elastic && spare(i, load));
  }

  private static Decision whole(boolean allowed, List<Decision> parts, int speaking) {
    Decision speaker = parts.get(speaking);
    long remaining = Long.MAX_VALUE;
    long at = Long.MIN_VALUE;
    long reset = Long.MIN_VALUE;
    for (Decision part : parts) {
      remaining = Math.min(remaining, part.remaining());
      at = Math.max(at, part.atNanos());
      reset = Math.max(reset, part.atNanos() + part.resetAfterNanos());
    }
    return new Decision(
        allowed,
        speaker.reason(),
        speaker.cause(),
        speaker.policy(),
        speaker.limit(),
        remaining,
        allowed ? 0 : speaker.retryAfterNanos(),
        reset - at,
        at,
        parts);
  }

  /**
   * Returns the part by which an admission is reported: one that tolerated the request, or else the
   * one with the fewest permits left.
   */
  private static int scarcest(List<Decision> parts) {
    int least = 0;
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).reason() != Reason.WITHIN_LIMIT) {
        return i;
      }
      least = parts.get(i).remaining() < parts.get(least).remaining() ? i : least;
    }
    return least;
  }

  /**
   * Returns the part by which a refusal is reported: of those that refuse, the one with the longest
   * retry-after.
   */
  private static int slowest(Charges charges) {
    int slowest = -1;
    for (int i = 0; i < charges.size(); i++) {
      boolean mayRefuse =
          charges.role(i) == Charges.Role.REQUIRED || charges.role(i) == Charges.Role.REPORTED;
      boolean refuses = mayRefuse && !charges.fits(i) && !charges.forgiven(i);
      if (refuses
          && (slowest < 0 || charges.retryAfterNanos(i) > charges.retryAfterNanos(slowest))) {
        slowest = i;
      }
    }
    return Math.max(0, slowest);
  }

  /** Returns the {@link #decision} on a request in packed form. */
  long packed(Charges charges) {
    if (!charges.allowed()) {
      int i = slowest(charges);
      return PackedDecision.of(charges.reason(i), 0, charges.retryAfterNanos(i));
    }
    long remaining = Long.MAX_VALUE;
    for (int i = 0; i < policies.length; i++) {
      remaining = Math.min(remaining, charges.fits(i) ? own(i, charges.remaining(i)) : 0);
    }
    return remaining;
  }

  /** Returns the {@link #decision(QuotaResults) decision} in packed form. */
  long packed(QuotaResults results) {
    int slowest = results.slowest(policies.length);
    if (slowest >= 0) {
      return PackedDecision.refused(results.retryAfterNanos(slowest));
    }
    long remaining = Long.MAX_VALUE;
    for (int i = 0; i < policies.length; i++) {
      remaining = Math.min(remaining, own(i, results.remaining(i)));
    }
    return remaining;
  }

  /** Returns what remains of the policy's own limit: the store counts tolerated permits as well. */
  long own(int i, long remaining) {
    Policy policy = policies[i];
    return Math.max(0, remaining - policy.enforced().burst() + policy.burst());
  }

  /** Returns the name of the policy that decided a packed request. */
  String speaker(Charges charges) {
    if (!charges.allowed()) {
      return policies[slowest(charges)].name();
    }
    int least = 0;
    for (int i = 1; i < policies.length; i++) {
      least = own(i, charges.remaining(i)) < own(least, charges.remaining(least)) ? i : least;
    }
    return policies[least].name();
  }

  /** A policy's decision as the store has made it, with the binding that made it. */
  record ChargedPolicy(Binding binding, Decision decision) {}

  /**
   * Returns what an admission has charged: nothing for a policy that tolerated it without a charge.
   */
  List<ChargedPolicy> charged(Decision admission) {
    List<ChargedPolicy> charged = new ArrayList<>(policies.length);
    if (admission.parts().isEmpty()) {
      addCharged(charged, placeOf(admission.policy()), admission);
    }
    for (Decision part : admission.parts()) {
      for (int i = 0; i < policies.length; i++) {
        if (policies[i].name().equals(part.policy())) {
          addCharged(charged, i, part);
        }
      }
    }
    return charged;
  }

  /** Returns the place of the policy of a name, 0 if there is none: its successor has another. */
  private int placeOf(String name) {
    for (int i = 0; i < policies.length; i++) {
      if (policies[i].name().equals(name)) {
        return i;
      }
    }
    return 0;
  }

  private void addCharged(List<ChargedPolicy> charged, int i, Decision part) {
    boolean spared = part.reason() == Reason.TOLERATED && policies[i].throttle().isElastic();
    if (part.allowed() && !spared) {
      charged.add(new ChargedPolicy(bindings[i], policies[i].unthrottled(part)));
    }
  }
}
