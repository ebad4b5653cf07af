package dev.weir.engine;

import dev.weir.Fingerprint;
import dev.weir.LoadSignal;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.engine.internal.leases.LeaseLedger;
import dev.weir.engine.internal.matching.AnswerCollector;
import dev.weir.engine.internal.matching.Refund;
import dev.weir.engine.internal.matching.Reset;
import dev.weir.engine.internal.matching.Revision;
import dev.weir.engine.internal.matching.RuleBindings;
import dev.weir.engine.internal.metrics.EngineCounters;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine that decides requests by the rules in force: one request with several descriptors gets
 * one answer, all or nothing. Safe for use by many threads; each request is decided by exactly one
 * revision.
 */
public final class Engine implements Decider, AutoCloseable {
  /*
   * Why is Engine so long? It is the one face of this module for ports and middleware, and decides
   * nothing itself: every method hands on to the part that does. DecisionPath takes a request
   * through all steps, RuleBindings puts rules in force, Leases lends permits, Holds settles costs, and
   * Lookups finds the limits of subjects. Only the order of their calls is here, and what callers may rely on: on
   * which thread an answer comes, how often a callback is called, and which errors there are. The
   * builder stands here because nothing else makes an engine.
   */
  final DecisionPath path;
  private final RuleBindings bindings;
  private final EngineCounters counters = new EngineCounters();
  private final SubjectCounters subjectCounters = new SubjectCounters();
  private final Leases leases;
  private final Holds holds;
  private final Seats seats;

  private Engine(Builder parts) {
    RoutedStore store =
        parts.store instanceof RoutedStore routed ? routed : RoutedStore.local(parts.store);
    int maxLeases = parts.settings.maxLeases();
    path = new DecisionPath(store, parts, counters, subjectCounters);
    bindings = new RuleBindings(store, parts.fingerprint(), subjectCounters, maxLeases > 0);
    leases = new Leases(path, new LeaseLedger(maxLeases));
    HeldTokens tokens = new HeldTokens(path);
    HoldSettings held = parts.holds();
    holds = new Holds(path, tokens, held);
    seats = new Seats(path, tokens, held);
  }

  /**
   * Creates an engine without rules. Closing it closes the store.
   *
   * @param store a {@link RoutedStore} if rules may choose between stores; any other is the only
   *     one, which no other process shares
   */
  public static Engine create(Store store, Ticker ticker, EngineSettings settings) {
    return builder(store).ticker(ticker).settings(settings).build();
  }

  /**
   * Returns a builder of an engine.
   *
   * @param store as for {@link #create}
   */
  public static Builder builder(Store store) {
    return new Builder(store);
  }

  /** A builder of an {@link Engine}. Not safe for use by several threads. */
  public static final class Builder {
    final Store store;
    Ticker ticker = Ticker.system();
    EngineSettings settings = EngineSettings.DEFAULTS;
    LoadSignal load = LoadSignal.UNKNOWN;
    KeyPolicies policies = KeyPolicies.NONE;
    SubjectSettings subjects = SubjectSettings.DEFAULTS;
    private @Nullable Fingerprint fingerprint;
    private @Nullable HoldSettings holds;

    private Builder(Store store) {
      this.store = store;
    }

    /** Sets the clock. Default: the system's. */
    public Builder ticker(Ticker newTicker) {
      ticker = newTicker;
      return this;
    }

    /** Sets the bounds of requests and the behavior of the engine. */
    public Builder settings(EngineSettings newSettings) {
      settings = newSettings;
      return this;
    }

    /** Sets the fingerprints of keys. Default: the store's. */
    public Builder fingerprint(Fingerprint newFingerprint) {
      fingerprint = newFingerprint;
      return this;
    }

    /** Sets the load on which elastic rules depend. Without it they are hard. */
    public Builder load(LoadSignal newLoad) {
      load = newLoad;
      return this;
    }

    /**
     * Sets the source of the limits of subjects, for rules with {@code by}. Without it such a rule
     * has its own number for all subjects.
     */
    public Builder subjects(KeyPolicies newPolicies, SubjectSettings newSubjects) {
      policies = newPolicies;
      subjects = newSubjects;
      return this;
    }

    /**
     * Sets the key and the life of {@linkplain Engine#holds holds}. Default: {@link
     * HoldSettings#random}.
     */
    public Builder holds(HoldSettings newHolds) {
      holds = newHolds;
      return this;
    }

    HoldSettings holds() {
      return holds == null ? HoldSettings.random() : holds;
    }

    Fingerprint fingerprint() {
      return fingerprint == null ? store.fingerprint() : fingerprint;
    }

    /** Returns an engine without rules. Closing it closes the store. */
    public Engine build() {
      return new Engine(this);
    }
  }

  /**
   * Puts a rule set in force, in one step, instead of the one before. State survives, except if a
   * rule moves to another store.
   *
   * @return the new revision, counted from 1
   * @throws RulesException if there is no store of a rule's choice, or it cannot take the rule; the
   *     rules before stay in force, as they do after any other exception or error
   */
  public synchronized long apply(RuleSet rules) {
    long now = path.ticker.nanos();
    Revision before = path.revision;
    Revision after;
    try {
      after = bindings.bind(before, rules, now);
    } catch (RuntimeException | Error e) {
      counters.reloadFailures.increment();
      throw e;
    }
    path.revision = after;
    bindings.retire(before, after, now);
    counters.reloads.increment();
    return after.number;
  }

  /** Counts a rule set that had errors before {@link #apply} could be called. */
  public void reloadFailed() {
    counters.reloadFailures.increment();
  }

  /** Returns the rules in force, empty before the first. */
  public RuleSet rules() {
    return path.revision.rules;
  }

  /** Returns the number of the rule set in force, 0 before the first. */
  public long revision() {
    return path.revision.number;
  }

  /**
   * Decides a request now.
   *
   * @throws IllegalStateException if the store does not answer on the caller's thread, or if the
   *     limits of the request's subject are not at hand
   */
  public Answer decide(Request request) {
    long now = path.ticker.nanos();
    return path.decide(request, now, now);
  }

  /**
   * Decides a request at the caller's own time, on the ticker's scale.
   *
   * @throws IllegalStateException if {@link #decide(Request)} throws it
   */
  public Answer decideAt(Request request, long nowNanos) {
    return path.decide(request, nowNanos, path.ticker.nanos());
  }

  /**
   * Decides a request now. Calls {@code done} exactly once: before returning if the store is in
   * this process, else on a thread of the store; if the limits of the request's subject are not at
   * hand, on a thread of their source. A request that cannot be decided gets an answer with an
   * error.
   */
  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    path.decide(request, done);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    path.peek(request, done);
  }

  /**
   * Returns the names under which a shared store keeps the states of a request's keys, for
   * operators: one text for each descriptor, empty if nothing limits it or its store shows no keys.
   * A request that cannot be decided has none.
   */
  public List<String> shownKeys(Request request) {
    return path.matched(request).shownKeys();
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    new Refund(path.matched(request, answer), answer, path.store, done).give();
  }

  /**
   * Forgets what the keys of a request have used: the next request for them is decided as the first
   * of a new key. <b>This admits more than the limit:</b> earlier admissions are no longer counted.
   * Each key is forgotten by itself, whatever number it was counted under; requests that wait in a
   * queue go on waiting.
   *
   * <p>Only this process's state of limits that are counted here is forgotten; other servers have
   * their own.
   *
   * @param done is called once, as for {@link #decide}
   */
  public void reset(Request request, Consumer<? super ResetResult> done) {
    counters.resets.increment();
    new Reset(path.matched(request), path.store, done).start();
  }

  /** Returns how many requests were reset. */
  public long resets() {
    return counters.resets.sum();
  }

  /** Returns the counts of refunds that descriptors give by number. */
  public RefundMetrics refunds() {
    return path.refunds.metrics();
  }

  @Override
  public @Nullable TakenSeat seat(Request request, Answer answer) {
    return seats.of(request, answer);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return path.queues.enqueue(request, refused, maxWaitNanos, done);
  }

  /**
   * Decides many requests now, each for itself and in their order, by one revision of the rules.
   * The store fetches the state for all of them at once, and a store that is called over a network
   * gets their requests {@linkplain Store#together together}.
   *
   * @param done receives all answers, in the order of the requests, when the last one has arrived
   */
  public void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
    if (requests.isEmpty()) {
      done.accept(List.of());
      return;
    }
    AnswerCollector answers = new AnswerCollector(requests.size(), done);
    long[] nowNanos = new long[requests.size()];
    double[] loads = new double[requests.size()];
    Arrays.fill(nowNanos, path.ticker.nanos());
    Arrays.fill(loads, path.load(path.revision));
    path.store.together(() -> path.decideAll(requests, nowNanos, loads, path.ticker, answers::put));
    answers.allSent(); // Not before: its callback may wait for another decision.
  }

  /**
   * Decides many requests, each for itself and in their order, as if by {@link #decideAt}, but
   * faster: the store fetches the state for all of them at once.
   *
   * @param nowNanos the time of each request, on the ticker's scale
   * @param loads the load at each time, as a {@link LoadSignal} returns it
   * @param done receives their answers, in their order if the store is in this process
   * @throws IllegalArgumentException if there are fewer times or loads than requests
   */
  public void decideAllAt(
      List<Request> requests, long[] nowNanos, double[] loads, Consumer<? super Answer> done) {
    int given = Math.min(nowNanos.length, loads.length);
    if (given < requests.size()) {
      throw new IllegalArgumentException(
          "nowNanos, loads: " + given + " (expected: at least " + requests.size() + ")");
    }
    path.decideAll(requests, nowNanos, loads, null, (i, answer) -> done.accept(answer));
  }

  /**
   * Returns an empty batch of requests for this engine.
   *
   * @param capacity how many requests it holds at most, 1 to 65536
   */
  public RequestBatch batch(int capacity) {
    return new RequestBatch(path, capacity);
  }

  /**
   * Answers a request without deciding it, because there is no time for that: with {@link
   * Reason#OVERLOADED}. The request passes if all policies that could refuse it have the failure
   * mode {@code ALLOW}; {@code LOCAL} denies: there is no time to decide in this process either.
   * Charges nothing.
   */
  public void refuse(Request request, Consumer<? super Answer> done) {
    path.refuse(request, done);
  }

  /**
   * Ends the queues before this engine is closed: no request is queued any more. Of those that
   * wait, the ones whose turn would come too late are refused at once, and the others when the time
   * is over. Requests that wait for the limits of a subject until then are refused with {@link
   * Reason#UNCERTAIN}.
   *
   * @param time zero or more
   */
  public void endQueues(Duration time) {
    path.queues.endWithin(time.toNanos());
    path.lookups.endWithin(time.toNanos());
  }

  /** Returns the part that lends permits to clients. */
  public Leases leases() {
    return leases;
  }

  /** Returns the part that gives out permits of limits at the same time, and takes them back. */
  public Seats seats() {
    return seats;
  }

  /** Returns the part that holds the most that requests may cost. */
  public Holds holds() {
    return holds;
  }

  /** Forgets state that no longer matters, a bounded amount; to be called about every second. */
  public void expire() {
    leases.expire();
    path.store.expire(path.ticker.nanos());
  }

  /** Returns how full the store in this process is, the fuller of keys and bytes, 0 to 100. */
  public int fullPercent() {
    return path.store.fullPercent();
  }

  /** Returns the counts of the engine. */
  public EngineMetrics metrics() {
    Revision current = path.revision;
    return counters.snapshot(
        bindings.metrics(current.rules), path.store, current.number, path.queues.metrics());
  }

  /**
   * Returns the counts like {@link #metrics}, but with one element for each path of a rule, in no
   * order. Cheaper for a caller that reads them every second.
   */
  public EngineMetrics totals() {
    Revision current = path.revision;
    return counters.snapshot(
        bindings.totals(current.rules), path.store, current.number, path.queues.metrics());
  }

  /**
   * Sets the observer of everything that is decided and counted from now on, instead of the one
   * before.
   */
  public void observe(DecisionObserver newObserver) {
    path.observer = newObserver;
  }

  /** Returns the counts of subjects, for rules with {@code by}. */
  public SubjectMetrics subjectMetrics() {
    return subjectCounters.snapshot(path.lookups.waiting());
  }

  @Override
  public void close() {
    path.close();
  }
}
