package dev.weir.engine.internal.matching;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.DecisionObserver;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.RequestBatch;
import dev.weir.engine.Status;
import dev.weir.engine.internal.subjects.Subjects;
import dev.weir.rules.CostMode;
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request that is being decided: the limits of its descriptors, their charges, and then its
 * answer. Reusable; for one thread at a time.
 */
public final class PendingRequest {
  /*
   * What happens to a request, and in which order? RequestMatcher begins it and adds each
   * descriptor with its rule (Match). A limit whose number is known becomes a charge. If the number
   * is not known, since its subject is unknown, there is no policy that could be charged: the limit
   * stays undecided and is settled here (refuseUndecided), by the same rules as Charges.settle; if
   * it refuses, the others are only peeked. A request that waits for its subjects is not decided at
   * all, but matched once more as another pending request (leaveSubjects, with). Then a store fills
   * in the charges, and the answer is that of the one charge that decides alone (AnswerOfCharge),
   * or it is made of the outcome of each descriptor (Match.status), which is also counted.
   *
   * One class holds everything that descriptors have in common, and each Match holds the parts of
   * one descriptor, because both are reused by their thread and nothing else may be allocated for a
   * decision.
   */

  /** The decisions that appear in the counts. */
  private enum CountMode {
    ALWAYS,
    IF_ALLOWED,
    NEVER
  }

  /** The source of the numbers of subjects. */
  enum SubjectSource {
    /** The source of limits; the request may have to wait. */
    ASKS,
    /** The limits at hand, else the rule: the request is only peeked at. */
    GUESSES,
    /** An answer that the request had before. */
    REMEMBERS
  }

  private final Charges charges = new Charges();
  private Match[] matches = {new Match()};
  private int size;
  private Revision revision = Revision.NONE;
  private long nowNanos;
  private double load;
  private boolean domainKnown;
  private boolean local;
  private boolean quotas;
  private CountMode counted = CountMode.ALWAYS;
  private boolean kept;
  private boolean behind;
  private boolean reporting;
  private boolean plain;

  /** The texts of a plain request: each entry's key with its value behind it. */
  private String[] texts = {};

  private int textCount;
  private boolean anyUndecided;
  private boolean anyRefunds;
  private boolean refused;
  private SubjectSource looking = SubjectSource.ASKS;
  private @Nullable Answer answered;
  private @Nullable Subjects subjects;
  private @Nullable String problem;
  private final DecidedMatch decided = new DecidedMatch(this);

  /** Removes everything, ready for the next request. */
  public void clear() {
    for (int i = 0; i < size; i++) {
      matches[i].set(null, null);
    }
    charges.clear();
    size = 0;
    revision = Revision.NONE;
    domainKnown = false;
    quotas = false;
    counted = CountMode.ALWAYS;
    kept = false;
    behind = false;
    reporting = false;
    plain = false;
    Arrays.fill(texts, 0, textCount, "");
    textCount = 0;
    anyUndecided = false;
    anyRefunds = false;
    refused = false;
    looking = SubjectSource.ASKS;
    answered = null;
    if (subjects != null) {
      subjects.clear();
    }
    problem = null;
  }

  /** Sets what is known of the request's subjects. */
  public PendingRequest with(Subjects known) {
    subjects = known;
    return this;
  }

  /** Returns the request's subjects. */
  Subjects subjects() {
    Subjects own = subjects;
    if (own == null) {
      own = new Subjects();
      subjects = own;
    }
    return own;
  }

  /** Returns the request's subjects, and removes them from it: it has to wait for them. */
  public Subjects leaveSubjects() {
    Subjects own = subjects();
    subjects = null;
    return own;
  }

  /** Returns whether the request must wait for its subjects' limits before it can be decided. */
  public boolean waits() {
    return subjects != null && subjects.wanting();
  }

  /**
   * Makes the request one that is only peeked at: a number that is not at hand is the rule's own.
   */
  public PendingRequest guessing() {
    looking = SubjectSource.GUESSES;
    return this;
  }

  /** Makes the request use the numbers by which an earlier answer to it was decided. */
  public PendingRequest remembering(Answer answer) {
    looking = SubjectSource.REMEMBERS;
    answered = answer;
    return this;
  }

  SubjectSource subjectSource() {
    return looking;
  }

  /** Returns the limit by which descriptor {@code i} was decided, or null if there was none. */
  @Nullable CurrentLimit decidedBy(int i) {
    return answered == null || i >= answered.statuses().size()
        ? null
        : answered.statuses().get(i).currentLimit();
  }

  /**
   * Begins the request by a revision of the rules.
   *
   * @param newLoad the load at that time, as a {@link dev.weir.LoadSignal} returns it
   */
  void begin(Revision newRevision, long newNowNanos, double newLoad) {
    revision = newRevision;
    nowNanos = newNowNanos;
    load = newLoad;
    local = true;
  }

  /** Sets whether the request reports costs, which all of its limits count whatever is left. */
  void reporting(boolean reports) {
    reporting = reports;
  }

  /**
   * Makes the request one whose turn it is in a queue: no others are before it, and it counts only
   * if it is allowed, since its refusal was counted when it came.
   */
  public PendingRequest turn() {
    counted = CountMode.IF_ALLOWED;
    return this;
  }

  /** Returns whether it is decided for the first time, to be charged and counted. */
  public boolean isFirst() {
    return counted == CountMode.ALWAYS;
  }

  /** Returns whether it is the request's {@link #turn} in a queue. */
  public boolean isTurn() {
    return counted == CountMode.IF_ALLOWED;
  }

  /** Makes the request one that is read after its answer, so that its thread does not reuse it. */
  public PendingRequest keep() {
    kept = true;
    return this;
  }

  /** Returns whether a thread may reuse the request after its answer. */
  boolean isReusable() {
    return !kept;
  }

  /** Returns whether the decision counts. */
  public boolean counts() {
    return counted == CountMode.ALWAYS || (counted == CountMode.IF_ALLOWED && charges.allowed());
  }

  /** Makes the request one that is decided without being charged or counted; before matching. */
  public PendingRequest peek() {
    charges.peek();
    counted = CountMode.NEVER;
    return this;
  }

  /**
   * Sets the number of permits of the requests that wait for the key of descriptor {@code i}. The
   * request is then refused, and not charged.
   *
   * @param permits at least 1
   */
  public void queuedBehind(int i, long permits) {
    matches[i].permitsAhead = permits;
    chargeReportsAlone();
    behind = true;
  }

  /** Makes the request charge nothing: it is refused. Reports are counted all the same. */
  private void chargeReportsAlone() {
    if (!charges.anyReports()) {
      charges.peek();
      return;
    }
    for (int i = 0; i < charges.size(); i++) {
      if (!charges.role(i).isReport()) {
        charges.permits(i, 0);
      }
    }
  }

  /** Marks the request as impossible to decide, with the reason. */
  void invalid(String newProblem) {
    problem = newProblem;
    local = true; // No store is needed to answer it.
  }

  /** Sets whether there are rules for the request's domain. */
  void domainKnown(boolean known) {
    domainKnown = known;
  }

  /** Adds a descriptor with the rule that matches it, if one does. */
  void add(Descriptor descriptor, @Nullable BoundRule bound) {
    if (size == matches.length) {
      matches = Arrays.copyOf(matches, 2 * size);
      for (int i = size; i < matches.length; i++) {
        matches[i] = new Match();
      }
    }
    matches[size++].set(descriptor, bound);
  }

  /**
   * Begins a request of one descriptor that matches a {@link BoundRule#plain} rule, and charges it.
   * Its answer is read from the {@link #charges}, and no descriptor is made.
   *
   * @param count how many texts there are: each entry's key with its value behind it
   */
  void plain(
      BoundRule bound,
      String[] keysAndValues,
      int count,
      long permits,
      Revision newRevision,
      long newNowNanos) {
    begin(newRevision, newNowNanos, Double.NaN);
    matches[0].set(null, bound);
    size = 1;
    domainKnown = true;
    plain = true;
    if (texts.length < count) {
      texts = new String[count];
    }
    System.arraycopy(keysAndValues, 0, texts, 0, count);
    textCount = count;
    charge(0, bound.fingerprint(keysAndValues, count), permits);
  }

  /**
   * Returns whether the request is {@link #plain(BoundRule, String[], int, long, Revision, long)}.
   */
  public boolean isPlain() {
    return plain;
  }

  /**
   * Counts for its rule a request that one charge has decided, as {@link #answer} does for others.
   */
  public void countPlain(int nearLimitPercent) {
    BoundRule bound = matches[0].bound;
    if (bound != null) {
      bound
          .counters()
          .count(
              charges.permits(0),
              charges.reason(0),
              charges.binding(0).policy().burst(),
              charges.remaining(0),
              charges.fits(0),
              charges.allowed(),
              false,
              nearLimitPercent);
    }
  }

  /** Charges the limit in descriptor {@code i} itself. */
  void chargeOverride(int i, Binding binding, boolean isLocal, long fingerprint, long permits) {
    Match match = matches[i];
    LimitOverride override = descriptor(i).limitOverride();
    if (override == null) {
      throw new IllegalStateException("descriptor: without a limit (expected: with one)");
    }
    match.limit =
        new CurrentLimit(
            override.requestsPerUnit(),
            override.unit(),
            "",
            binding.policy(),
            null,
            LimitOrigin.REQUEST);
    match.charge = charges.size();
    charges.add(binding, fingerprint, permits, reporting ? Role.REPORTED : Role.REQUIRED);
    local &= isLocal;
  }

  /** Charges the own limit of the rule that descriptor {@code i} matches; it must have one. */
  void charge(int i, long fingerprint, long permits) {
    BoundRule bound = matches[i].bound;
    if (bound == null || bound.binding == null || bound.currentLimit == null) {
      throw new IllegalStateException("rule: without a limit (expected: with one)");
    }
    charge(i, bound, bound.binding, bound.currentLimit, fingerprint, permits);
  }

  /** Charges a number of the rule that descriptor {@code i} matches. */
  void charge(
      int i, BoundRule bound, Binding binding, CurrentLimit limit, long fingerprint, long permits) {
    Match match = matches[i];
    match.limit = limit;
    match.charge = charges.size();
    match.spare = limit.policy().throttle().spare(load);
    Role role = role(bound.rule, match.spare);
    // The report of a request that has waited was counted when it came.
    charges.add(binding, fingerprint, isTurn() && role.isReport() ? 0 : permits, role);
    local &= bound.local;
    quotas |= bound.rule.quotaMode();
  }

  /**
   * Marks descriptor {@code i} as unlimited: its subject has no limit by the rule that it matches.
   */
  void unlimited(int i) {
    matches[i].unlimited = true;
  }

  /**
   * Marks the number of the rule that descriptor {@code i} matches as not known, with the reason.
   */
  void undecided(int i, BoundRule bound, CurrentLimit limit, Reason why, long permits) {
    Match match = matches[i];
    match.limit = limit;
    match.undecided = why;
    match.permits = permits;
    match.spare = limit.policy().throttle().spare(load);
    match.role = role(bound.rule, match.spare);
    quotas |= bound.rule.quotaMode();
    anyUndecided = true;
  }

  private Role role(Rule rule, boolean spare) {
    if (reporting || rule.costs() == CostMode.REPORTED) {
      return spare || rule.shadowMode() ? Role.REPORTED_SHADOW : Role.REPORTED;
    }
    return spare || rule.shadowMode() ? Role.OPTIONAL : rule.quotaMode() ? Role.ANY : Role.REQUIRED;
  }

  /** Marks the rule that descriptor {@code i} matches as replaced by another one. */
  void replace(int i) {
    matches[i].replaced = true;
  }

  /** Returns whether a rule that matches any descriptor replaces the given one. */
  boolean isReplaced(Rule rule) {
    if (!revision.replacing || rule.name().isEmpty()) {
      return false;
    }
    for (int i = 0; i < size; i++) {
      BoundRule bound = matches[i].bound;
      if (bound != null && bound.rule.replaces().contains(rule.name())) {
        return true;
      }
    }
    return false;
  }

  /**
   * Makes rules in quota mode refuse nothing if one of them is always OK, such as a shadow or an
   * unlimited one: of the rules in quota mode only one has to be OK.
   */
  void relaxQuotas() {
    if (!quotas) {
      return;
    }
    for (int i = 0; i < size; i++) {
      BoundRule bound = matches[i].bound;
      if (bound != null && !matches[i].replaced && bound.rule.quotaMode() && alwaysOk(matches[i])) {
        for (int j = 0; j < charges.size(); j++) {
          if (charges.role(j) == Role.ANY) {
            charges.role(j, Role.OPTIONAL);
          }
        }
        for (int j = 0; j < size; j++) {
          if (matches[j].role == Role.ANY) {
            matches[j].role = Role.OPTIONAL;
          }
        }
        return;
      }
    }
  }

  private boolean alwaysOk(Match match) {
    if (match.undecided != null) {
      return match.role == Role.OPTIONAL || match.forgiven();
    }
    return match.charge == Match.NO_CHARGE
        || charges.role(match.charge) == Role.OPTIONAL
        || charges.role(match.charge) == Role.REPORTED_SHADOW;
  }

  /**
   * Refuses the request, so that nothing is charged, if a limit whose number is not known refuses
   * it, as {@link Charges#settle} would.
   */
  void refuseUndecided() {
    if (!anyUndecided) {
      return;
    }
    boolean anyAsked = false;
    for (int i = 0; i < size; i++) {
      Match match = matches[i];
      if (match.undecided != null && !match.forgiven()) {
        refused |= match.role == Role.REQUIRED || match.role == Role.REPORTED;
        anyAsked |= match.role == Role.ANY;
      }
    }
    boolean otherAsked = false;
    for (int i = 0; i < charges.size(); i++) {
      otherAsked |= charges.role(i) == Role.ANY;
    }
    refused |= anyAsked && !otherAsked;
    if (refused) {
      chargeReportsAlone();
    }
  }

  /**
   * Returns the number of limits that the request is answered by although their numbers are not
   * known.
   */
  public int undecided(Reason why) {
    int count = 0;
    for (int i = 0; anyUndecided && i < size; i++) {
      count += matches[i].undecided == why ? 1 : 0;
    }
    return count;
  }

  /**
   * Takes the permits that descriptors give back off those that others charge the same key in the
   * same request: both are one change, and only the rest of it is given back or charged.
   */
  void netRefunds() {
    for (int i = 0; i < size; i++) {
      Match match = matches[i];
      Descriptor descriptor = match.descriptor;
      long refund = descriptor == null ? 0 : descriptor.refund();
      if (refund == 0) {
        continue;
      }
      anyRefunds = true;
      match.refund = refund;
      if (match.charge != Match.NO_CHARGE) {
        charges.role(match.charge, Role.OPTIONAL); // It neither refuses the request nor admits it.
      }
      for (int j = 0; j < charges.size() && match.charge != Match.NO_CHARGE; j++) {
        long permits = isSameKey(j, match.charge) ? charges.permits(j) : 0;
        long both = Math.min(permits, match.refund);
        match.refund -= both;
        charges.permits(j, permits - both);
        if (permits > both && match.isHeld()) {
          charges.role(j, match.isShadow() ? Role.REPORTED_SHADOW : Role.REPORTED);
        }
      }
    }
  }

  private boolean isSameKey(int a, int b) {
    return charges.fingerprint(a) == charges.fingerprint(b)
        && charges.binding(a) == charges.binding(b);
  }

  /** Returns whether any descriptor gives permits back. */
  public boolean hasRefunds() {
    return anyRefunds;
  }

  /** Returns the permits to give back for descriptor {@code i}, beyond what others of it take. */
  public long refund(int i) {
    return matches[i].refund;
  }

  /**
   * Returns the permits that descriptors of the request give back and take for the same key, if
   * both are equal, so that the request changes nothing; else 0.
   */
  public long cancelled(int i) {
    Match match = matches[i];
    Descriptor descriptor = match.descriptor;
    if (descriptor == null || match.charge == Match.NO_CHARGE || match.refund > 0) {
      return 0;
    }
    for (int j = 0; j < charges.size(); j++) {
      if (isSameKey(j, match.charge) && charges.permits(j) > 0) {
        return 0;
      }
    }
    return descriptor.refund();
  }

  /** Returns how many descriptors there is room for without growing. */
  int capacity() {
    return matches.length;
  }

  /** Returns descriptor {@code i}, which is made if the request is plain. */
  public Descriptor descriptor(int i) {
    if (plain) {
      return RequestBatch.descriptor(texts, textCount, charges.permits(0));
    }
    Descriptor descriptor = matches[i].descriptor;
    if (descriptor == null) {
      throw new IllegalStateException("descriptor " + i + ": none (expected: below " + size + ")");
    }
    return descriptor;
  }

  /** Returns the rule that descriptor {@code i} matches, or null. */
  @Nullable
  public BoundRule bound(int i) {
    return matches[i].bound;
  }

  public Revision revision() {
    return revision;
  }

  /** Returns the instant at which the request is decided, on the ticker's scale. */
  public long nowNanos() {
    return nowNanos;
  }

  /** Returns whether there are rules for the request's domain. */
  boolean domainKnown() {
    return domainKnown;
  }

  /** Returns why the request cannot be decided, or null. */
  @Nullable
  public String problem() {
    return problem;
  }

  /** Returns the charges; for stores. */
  public Charges charges() {
    return charges;
  }

  /** Returns whether the request needs no store that answers later. */
  public boolean isLocal() {
    return local;
  }

  /**
   * Returns the name of each descriptor's key in its store; see {@link
   * dev.weir.engine.Engine#shownKeys}.
   */
  public List<String> shownKeys() {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int charge = matches[i].charge;
      Binding binding = charge == Match.NO_CHARGE ? null : charges.binding(charge);
      keys.add(
          binding == null ? "" : binding.store().shownKey(binding, charges.fingerprint(charge)));
    }
    return keys;
  }

  /** Returns how many descriptors the request has. */
  public int size() {
    return size;
  }

  /** Returns the place of descriptor {@code i} among the charges, or -1 if nothing limits it. */
  public int charge(int i) {
    return matches[i].charge;
  }

  /** Returns the limit of descriptor {@code i}, or null. */
  @Nullable
  public CurrentLimit limit(int i) {
    return matches[i].limit;
  }

  /**
   * Returns the answer to a request that has been decided, and counts it for its rules, if it is
   * not a {@link #peek}.
   */
  public Answer answer(EngineSettings settings) {
    if (behind) {
      refuseQueued();
    }
    if (refused) {
      charges.allowed(false);
    }
    PlainRule alone = decidesAlone();
    if (alone != null) {
      if (counts()) {
        countPlain(settings.nearLimitPercent());
      }
      return new AnswerOfCharge(alone, charges, settings.shadowMode());
    }
    List<Status> statuses = statuses(settings);
    boolean shadowed = !charges.allowed() && settings.shadowMode();
    return new AnswerOfStatuses(
        charges.allowed() || shadowed, statuses, null, revision.number, shadowed, domainKnown);
  }

  /** Returns the rule whose charge alone is the answer, or null if the answer depends on more. */
  private @Nullable PlainRule decidesAlone() {
    BoundRule bound = matches[0].bound;
    return size == 1 && bound != null && matches[0].charge != Match.NO_CHARGE ? bound.plain : null;
  }

  /** Returns the answer to a plain request that has been decided, without counting it. */
  public Answer answerPlain(EngineSettings settings) {
    PlainRule rule = Objects.requireNonNull(Objects.requireNonNull(matches[0].bound).plain);
    return new AnswerOfCharge(rule, charges, settings.shadowMode());
  }

  /** Passes the outcome of each descriptor with a limit to an observer. */
  public void observe(DecisionObserver observer, Answer answer) {
    if (answer instanceof AnswerOfCharge) {
      observePlain(observer, answer.allowed());
      return;
    }
    List<Status> statuses = answer.statuses();
    for (int i = 0; i < statuses.size(); i++) {
      if (matches[i].limit != null) {
        Status status = statuses.get(i);
        boolean refuses = !answer.allowed() && !status.allowed();
        observer.decided(decided.of(i, status, refuses));
      }
    }
  }

  /**
   * Passes the outcome of a request that one charge decides to an observer.
   *
   * @param allowed whether it may pass
   */
  public void observePlain(DecisionObserver observer, boolean allowed) {
    observer.decided(decided.of(0, null, !allowed));
  }

  /** Returns the fingerprint of the key of descriptor {@code i}. */
  long fingerprint(int i) {
    Match match = matches[i];
    BoundRule bound = match.bound;
    if (match.charge != Match.NO_CHARGE) {
      return charges.fingerprint(match.charge);
    }
    return bound == null ? 0 : bound.fingerprint(descriptor(i).entries());
  }

  /** Returns the outcome of descriptor {@code i}, without counting it. */
  Status status(int i) {
    return matches[i].status(charges, nowNanos);
  }

  /**
   * Refuses permits for which other requests wait, whether or not they would fit now: those come
   * first.
   */
  private void refuseQueued() {
    for (int i = 0; i < size; i++) {
      CurrentLimit limit = matches[i].limit;
      if (matches[i].permitsAhead > 0 && limit != null) {
        int charge = matches[i].charge;
        long refill = refillNanos(limit.policy(), matches[i].permitsAhead);
        long retry = charges.retryAfterNanos(charge);
        charges.result(
            charge,
            Reason.OVER_LIMIT,
            0,
            retry == Decision.NEVER ? retry : Math.max(1, retry + refill),
            charges.resetAfterNanos(charge),
            charges.atNanos(charge));
      }
    }
    charges.settle();
  }

  /** Returns about how long a policy takes to admit {@code permits} permits. */
  public static long refillNanos(Policy policy, long permits) {
    double each = (double) policy.quota().windowNanos() / Math.max(1, policy.quota().permits());
    return (long) Math.min(each * permits, Quota.MAX_WINDOW_NANOS);
  }

  private List<Status> statuses(EngineSettings settings) {
    if (size == 1) {
      return List.of(counted(matches[0], settings)); // The smallest list.
    }
    Status[] statuses = new Status[size];
    for (int i = 0; i < size; i++) {
      statuses[i] = counted(matches[i], settings);
    }
    return List.of(statuses);
  }

  private Status counted(Match match, EngineSettings settings) {
    if (match.limit == null) {
      return match.withoutLimit();
    }
    Decision decision = match.decision(charges, nowNanos);
    if (counts()) {
      match.count(decision, charges, settings.nearLimitPercent());
    }
    return match.status(decision, charges);
  }
}
