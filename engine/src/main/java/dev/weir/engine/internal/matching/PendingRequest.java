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
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.Rule;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request that is being decided: what limits its descriptors, their charges, and then its
 * answer. Reusable; for one thread at a time.
 */
public final class PendingRequest {
  /*
   * What happens to a request, and in which order? RequestMatcher begins it and adds each descriptor
   * with its rule (Match). A limit whose number is known becomes a charge. One whose number is not
   * known, since its subject is unknown, has no policy that could be charged: it stays undecided and
   * is settled here (refuseUndecided), by the same rules as Charges.settle; where it refuses, the
   * others are only peeked. A request that waits for its subjects is not decided at all, but
   * matched once more as another pending request (leaveSubjects, with). Then a store fills in the
   * charges, and the answer is that of the one charge that decides alone (AnswerOfCharge), or says
   * how each descriptor fared (Match.status) and counts it.
   *
   * One class holds all that descriptors have in common, and each Match what is a descriptor's own,
   * because both are reused by their thread and nothing else may be allocated for a decision.
   */

  /** Which decisions appear in the counts. */
  private enum Counted {
    ALWAYS,
    IF_ALLOWED,
    NEVER
  }

  /** Where the numbers of subjects come from. */
  enum Looking {
    /** From those who know them; the request may have to wait. */
    ASKS,
    /** From what is at hand, else from the rule: it is only looked at. */
    GUESSES,
    /** From an answer that the request had before. */
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
  private Counted counted = Counted.ALWAYS;
  private boolean behind;
  private boolean plain;

  /** Of a plain request: each entry's key with its value behind it. */
  private String[] texts = {};

  private int textCount;
  private boolean anyUndecided;
  private boolean refused;
  private Looking looking = Looking.ASKS;
  private @Nullable Answer answered;
  private @Nullable Subjects subjects;
  private @Nullable String problem;
  private final DecidedMatch decided = new DecidedMatch(this);

  /** Forgets everything, ready for the next request. */
  public void clear() {
    for (int i = 0; i < size; i++) {
      matches[i].set(null, null);
    }
    charges.clear();
    size = 0;
    revision = Revision.NONE;
    domainKnown = false;
    quotas = false;
    counted = Counted.ALWAYS;
    behind = false;
    plain = false;
    Arrays.fill(texts, 0, textCount, "");
    textCount = 0;
    anyUndecided = false;
    refused = false;
    looking = Looking.ASKS;
    answered = null;
    if (subjects != null) {
      subjects.clear();
    }
    problem = null;
  }

  /** Has the request take what is known of its subjects. */
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

  /** Returns the request's subjects, and has it forget them: it has to wait for them. */
  public Subjects leaveSubjects() {
    Subjects own = subjects();
    subjects = null;
    return own;
  }

  /** Returns whether the request must wait for its subjects' limits before it can be decided. */
  public boolean waits() {
    return subjects != null && subjects.wanting();
  }

  /** Has the request only looked at: a number that is not at hand is the rule's own. */
  public PendingRequest guessing() {
    looking = Looking.GUESSES;
    return this;
  }

  /** Has the request take the numbers that an answer to it was decided by. */
  public PendingRequest remembering(Answer answer) {
    looking = Looking.REMEMBERS;
    answered = answer;
    return this;
  }

  Looking looking() {
    return looking;
  }

  /** Returns the limit that descriptor {@code i} was decided by, or null if there was none. */
  @Nullable CurrentLimit decidedBy(int i) {
    return answered == null || i >= answered.statuses().size()
        ? null
        : answered.statuses().get(i).currentLimit();
  }

  /**
   * @param newLoad at the time, as a {@link dev.weir.LoadSignal} returns it
   */
  void begin(Revision newRevision, long newNowNanos, double newLoad) {
    revision = newRevision;
    nowNanos = newNowNanos;
    load = newLoad;
    local = true;
  }

  /**
   * Has the request counted only if it is allowed: its refusal was counted when it came, and it has
   * waited since.
   */
  public void asksAgain() {
    counted = Counted.IF_ALLOWED;
  }

  /** Returns whether what has been decided counts. */
  public boolean counts() {
    return counted == Counted.ALWAYS || (counted == Counted.IF_ALLOWED && charges.allowed());
  }

  /** Has the request decided without charging it or counting it. */
  public void peek() {
    charges.peek();
    counted = Counted.NEVER;
  }

  /**
   * Says how many permits those ask for who wait for the key of descriptor {@code i}. The request
   * is then refused, and not charged.
   *
   * @param permits at least 1
   */
  public void behind(int i, long permits) {
    matches[i].permitsAhead = permits;
    charges.peek();
    behind = true;
  }

  /** Says that the request cannot be decided, and why. */
  void invalid(String newProblem) {
    problem = newProblem;
  }

  /** Says whether there are rules for the request's domain. */
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

  /** Counts a request that one charge has decided for its rule, as {@link #answer} does others. */
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

  /** Charges the limit that descriptor {@code i} itself brings. */
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
    charges.add(binding, fingerprint, permits);
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
    charges.add(binding, fingerprint, permits, role(bound.rule, match.spare));
    local &= bound.local;
    quotas |= bound.rule.quotaMode();
  }

  /** Says that the subject of descriptor {@code i} has no limit by the rule that it matches. */
  void unlimited(int i) {
    matches[i].unlimited = true;
  }

  /** Says that the number of the rule that descriptor {@code i} matches is not known, and why. */
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

  private static Role role(Rule rule, boolean spare) {
    return spare || rule.shadowMode() ? Role.OPTIONAL : rule.quotaMode() ? Role.ANY : Role.REQUIRED;
  }

  /** Says that another rule replaces the one that descriptor {@code i} matches. */
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
   * Lets rules in quota mode refuse nothing where one of them is OK whatever happens, as a shadow
   * or an unlimited one is: of the rules in quota mode only one has to be OK.
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
    return match.charge == Match.NO_CHARGE || charges.role(match.charge) == Role.OPTIONAL;
  }

  /**
   * Refuses the request, and has nothing charged, if a limit whose number is not known refuses it,
   * as {@link Charges#settle} would.
   */
  void refuseUndecided() {
    if (!anyUndecided) {
      return;
    }
    boolean anyAsked = false;
    for (int i = 0; i < size; i++) {
      Match match = matches[i];
      if (match.undecided != null && !match.forgiven()) {
        refused |= match.role == Role.REQUIRED;
        anyAsked |= match.role == Role.ANY;
      }
    }
    boolean otherAsked = false;
    for (int i = 0; i < charges.size(); i++) {
      otherAsked |= charges.role(i) == Role.ANY;
    }
    refused |= anyAsked && !otherAsked;
    if (refused) {
      charges.peek();
    }
  }

  /** Returns how many limits the request is answered by whose numbers are not known. */
  public int undecided(Reason why) {
    int count = 0;
    for (int i = 0; anyUndecided && i < size; i++) {
      count += matches[i].undecided == why ? 1 : 0;
    }
    return count;
  }

  /** Returns how many descriptors there is room for without growing. */
  int capacity() {
    return matches.length;
  }

  /** Returns descriptor {@code i}, which is made if the request is plain. */
  Descriptor descriptor(int i) {
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

  /** Returns whether no store is needed that answers later. */
  public boolean isLocal() {
    return local;
  }

  /** Returns how many descriptors the request has. */
  public int size() {
    return size;
  }

  /** Returns the place of descriptor {@code i} among the charges, or -1 if nothing limits it. */
  public int charge(int i) {
    return matches[i].charge;
  }

  /** Returns what limits descriptor {@code i}, or null. */
  @Nullable
  public CurrentLimit limit(int i) {
    return matches[i].limit;
  }

  /**
   * Returns the answer to a request that has been decided, and counts it for its rules, unless it
   * is only a {@link #peek}.
   */
  public Answer answer(EngineSettings settings) {
    if (behind) {
      refuseBehind();
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

  /** Returns the rule whose charge alone is the answer, or null if there is more to it. */
  private @Nullable PlainRule decidesAlone() {
    BoundRule bound = matches[0].bound;
    return size == 1 && bound != null && matches[0].charge != Match.NO_CHARGE ? bound.plain : null;
  }

  /** Returns the answer to a plain request that has been decided, without counting it. */
  public Answer answerPlain(EngineSettings settings) {
    PlainRule rule = Objects.requireNonNull(Objects.requireNonNull(matches[0].bound).plain);
    return new AnswerOfCharge(rule, charges, settings.shadowMode());
  }

  /** Tells an observer how each descriptor with a limit fared. */
  public void tell(DecisionObserver observer, Answer answer) {
    if (answer instanceof AnswerOfCharge) {
      tellPlain(observer, answer.allowed());
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
   * Tells an observer how a request fared that one charge decides.
   *
   * @param allowed whether it may pass
   */
  public void tellPlain(DecisionObserver observer, boolean allowed) {
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

  /** Returns how descriptor {@code i} fared, without counting it. */
  Status status(int i) {
    return matches[i].status(charges, nowNanos);
  }

  /** Refuses what others wait for, whether or not it would fit now: their turn is first. */
  private void refuseBehind() {
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

  /** Returns about how long a policy takes to admit so many permits. */
  public static long refillNanos(Policy policy, long permits) {
    double each = (double) policy.quota().windowNanos() / Math.max(1, policy.quota().permits());
    return (long) Math.min(each * permits, Quota.MAX_WINDOW_NANOS);
  }

  private List<Status> statuses(EngineSettings settings) {
    if (size == 1) {
      return List.of(counted(matches[0], settings)); // In the smallest list.
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
