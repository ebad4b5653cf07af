package dev.weir.engine.internal.matching;

import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.engine.internal.subjects.Lookups;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.engine.internal.subjects.Subjects;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.MatchBudget;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.UnknownSubject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A matcher that checks a request and finds the limit of each of its descriptors: a rule's, or the
 * one that the descriptor brings. Safe for use by many threads.
 */
public final class RequestMatcher {
  private final EngineSettings settings;
  private final Fingerprint fingerprint;
  private final Overrides overrides;
  private final KeyPolicies policies;
  private final Lookups lookups;
  private final SubjectCounters counters;

  /**
   * Creates a matcher.
   *
   * @param policies the limits of subjects at hand
   * @param lookups load the limits that are not at hand
   */
  public RequestMatcher(
      EngineSettings settings,
      Fingerprint fingerprint,
      Overrides overrides,
      KeyPolicies policies,
      Lookups lookups,
      SubjectCounters counters) {
    this.settings = settings;
    this.fingerprint = fingerprint;
    this.overrides = overrides;
    this.policies = policies;
    this.lookups = lookups;
    this.counters = counters;
  }

  /**
   * Fills a cleared pending request: with its charges, or with the problem that makes it impossible
   * to decide.
   *
   * @param load the load at that time, as a {@link dev.weir.LoadSignal} returns it
   * @return {@code pending}
   */
  public PendingRequest match(
      PendingRequest pending, Request request, Revision revision, long nowNanos, double load) {
    pending.begin(revision, nowNanos, load);
    pending.reporting(request.charge());
    String problem = problem(request, revision);
    if (problem != null) {
      pending.invalid(problem);
      return pending;
    }
    if (!RuleFinder.addRules(pending, request, revision)) {
      pending.invalid(MatchBudget.problem());
      return pending;
    }
    List<Descriptor> descriptors = request.descriptors();
    for (int i = 0; i < descriptors.size(); i++) {
      charge(pending, i, request);
      if (pending.problem() != null) {
        return pending;
      }
    }
    pending.relaxQuotas();
    pending.refuseUndecided();
    pending.netRefunds();
    return pending;
  }

  /** The ways to decide a request of one descriptor. */
  public enum Way {
    /** By its charge alone. */
    PLAINLY,
    /** In this process and at once, but with more work. */
    HERE,
    /** Not at once: by another store, or by the limits of a subject. */
    LATER
  }

  /**
   * Fills a cleared pending request of one descriptor, if it can be decided plainly; else leaves it
   * unchanged. Allocates nothing.
   *
   * @param count how many texts there are: each entry's key with its value behind it
   * @param permits the permits that the descriptor requests
   */
  public Way matchPlainly(
      PendingRequest pending,
      String domain,
      String[] keysAndValues,
      int count,
      long permits,
      Revision revision,
      long nowNanos) {
    if (revision.number == 0
        || domain.isEmpty()
        || domain.length() > settings.maxKeyLength()
        || count > 2 * settings.maxEntries()
        || permits < 0) {
      return Way.HERE; // It is impossible to decide; match finds the reason.
    }
    for (int i = 0; i < count; i++) {
      if (keysAndValues[i].length() > settings.maxKeyLength()) {
        return Way.HERE;
      }
    }
    Rule rule = RuleFinder.rule(domain, keysAndValues, count, revision);
    if (rule == null) {
      return Way.HERE; // There is none, or too many comparisons; match finds the reason.
    }
    BoundRule bound = revision.of(rule);
    if (bound.binding != null && (bound.numbers != null || !bound.local)) {
      return Way.LATER;
    }
    if (bound.plain == null) {
      return Way.HERE;
    }
    pending.plain(bound, keysAndValues, count, permits, revision, nowNanos);
    return Way.PLAINLY;
  }

  private void charge(PendingRequest pending, int i, Request request) {
    Descriptor descriptor = pending.descriptor(i);
    BoundRule bound = pending.bound(i);
    LimitOverride override = descriptor.limitOverride();
    if (override != null && pending.domainKnown()) {
      Binding binding =
          overrides.binding(
              request.domain(), override, pending.revision().rules.defaults(), pending.nowNanos());
      if (binding == null) {
        pending.invalid(
            "descriptor limit unit_multiplier: "
                + override.unitMultiplier()
                + " (expected: one of the first "
                + Overrides.MAX_WINDOWS
                + " windows of several units that requests brought)");
        return;
      }
      pending.chargeOverride(
          i,
          binding,
          overrides.isLocal(binding),
          fingerprint(descriptor),
          permits(request, descriptor));
    } else if (bound != null && pending.isReplaced(bound.rule)) {
      pending.replace(i);
    } else if (bound != null && bound.binding != null) {
      RuleNumbers numbers = bound.numbers;
      if (numbers == null) {
        long key = bound.fingerprint(descriptor.entries());
        pending.charge(i, key, permits(request, descriptor));
      } else {
        chargeSubject(pending, i, request, bound, numbers);
      }
    }
  }

  private void chargeSubject(
      PendingRequest pending, int i, Request request, BoundRule bound, RuleNumbers numbers) {
    Descriptor descriptor = pending.descriptor(i);
    long permits = permits(request, descriptor);
    RuleNumbers.BoundNumber number = number(pending, i, request.domain(), bound, numbers, permits);
    if (number == null) {
      return;
    }
    Binding binding = number.binding();
    CurrentLimit limit = number.limit();
    if (binding == null || limit == null) {
      pending.unlimited(i);
    } else {
      long key = bound.fingerprint(descriptor.entries());
      pending.charge(i, bound, binding, limit, key, permits);
    }
  }

  /**
   * Returns the number for a descriptor; null if it is not known, which is then set in the request.
   */
  private RuleNumbers.@Nullable BoundNumber number(
      PendingRequest pending,
      int i,
      String domain,
      BoundRule bound,
      RuleNumbers numbers,
      long permits) {
    if (pending.subjectSource() == PendingRequest.SubjectSource.REMEMBERS) {
      return numbers.of(pending.decidedBy(i));
    }
    Entry subject = pending.descriptor(i).entries().get(bound.rule.byLevel());
    Subjects subjects = pending.subjects();
    SubjectLimits limits =
        subjects.find(policies, counters, domain, subject.key(), subject.value());
    if (limits != null) {
      return numbers.of(limits, pending.nowNanos());
    }
    if (pending.subjectSource() == PendingRequest.SubjectSource.GUESSES) {
      return numbers.own();
    }
    Reason because = subjects.unknownBecause();
    if (bound.rule.unknown() == UnknownSubject.WAIT && because == null) {
      subjects.require(subject.key(), subject.value());
      return null;
    }
    if (because == null || !subjects.wanted(subject.key(), subject.value())) {
      lookups.prefetch(domain, subject.key(), subject.value());
    }
    if (bound.rule.unknown() == UnknownSubject.RULE) {
      return numbers.own();
    }
    pending.undecided(
        i, bound, numbers.unknown(), because == null ? Reason.UNCERTAIN : because, permits);
    return null;
  }

  private static long permits(Request request, Descriptor descriptor) {
    if (descriptor.refund() > 0) {
      return 0; // Nothing is charged, whatever else becomes of the refund.
    }
    Long own = descriptor.permits();
    return own != null ? own : Math.max(1, request.permits());
  }

  /** Returns the fingerprint of all entries: the key of a limit that no rule sets. */
  private long fingerprint(Descriptor descriptor) {
    long key = 0;
    for (Entry entry : descriptor.entries()) {
      key = fingerprint.add(fingerprint.add(key, entry.key()), entry.value());
    }
    return key;
  }

  /** Returns the problem that makes a request impossible to decide, or null. */
  private @Nullable String problem(Request request, Revision revision) {
    List<Descriptor> descriptors = request.descriptors();
    if (request.domain().isEmpty()) {
      return "rate limit domain must not be empty";
    }
    if (descriptors.isEmpty()) {
      return "rate limit descriptor list must not be empty";
    }
    if (revision.number == 0) {
      return "no rate limit configuration loaded";
    }
    if (request.domain().length() > settings.maxKeyLength()) {
      return tooMany("domain length", request.domain().length(), settings.maxKeyLength());
    }
    if (descriptors.size() > settings.maxDescriptors()) {
      return tooMany("descriptors", descriptors.size(), settings.maxDescriptors());
    }
    if (request.permits() < 0) {
      return "permits: " + request.permits() + " (expected: at least 0)";
    }
    for (int i = 0; i < descriptors.size(); i++) {
      String problem = problem(descriptors.get(i));
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private @Nullable String problem(Descriptor descriptor) {
    Long permits = descriptor.permits();
    if (permits != null && permits < 0) {
      return "descriptor permits: " + permits + " (expected: at least 0)";
    }
    if (descriptor.refund() < 0) {
      return "descriptor refund: " + descriptor.refund() + " (expected: at least 0)";
    }
    LimitOverride override = descriptor.limitOverride();
    String units =
        override == null ? null : LimitOverride.problem(override.unit(), override.unitMultiplier());
    if (units != null) {
      return "descriptor limit unit_multiplier: " + units;
    }
    List<Entry> entries = descriptor.entries();
    if (entries.size() > settings.maxEntries()) {
      return tooMany("descriptor entries", entries.size(), settings.maxEntries());
    }
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      int length = Math.max(entry.key().length(), entry.value().length());
      if (length > settings.maxKeyLength()) {
        return tooMany("entry length", length, settings.maxKeyLength());
      }
    }
    return null;
  }

  private static String tooMany(String name, int value, int most) {
    return name + ": " + value + " (expected: at most " + most + ")";
  }
}
