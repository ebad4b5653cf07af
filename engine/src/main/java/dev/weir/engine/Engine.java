package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.Fingerprint;
import dev.weir.LoadSignal;
import dev.weir.LocalStore;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.internal.leases.LeaseLedger;
import dev.weir.engine.internal.matching.AnswerCollector;
import dev.weir.engine.internal.matching.Overrides;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.matching.Refund;
import dev.weir.engine.internal.matching.RequestMatcher;
import dev.weir.engine.internal.matching.Reset;
import dev.weir.engine.internal.matching.Revision;
import dev.weir.engine.internal.matching.RuleBindings;
import dev.weir.engine.internal.matching.SparePending;
import dev.weir.engine.internal.metrics.EngineCounters;
import dev.weir.engine.internal.queues.FirstAnswer;
import dev.weir.engine.internal.queues.Queues;
import dev.weir.engine.internal.subjects.Lookups;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.engine.internal.subjects.Subjects;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
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
   * How does a request become an answer? RequestMatcher checks the request and finds a rule for
   * each descriptor (BoundRule); each rule with a limit becomes a charge (PendingRequest); the
   * store makes all charges or none; PendingRequest makes the outcome of each descriptor (Status)
   * and counts it.
   *
   * If all charges are in a store that decides on the caller's thread, nothing but the answer is
   * allocated: the thread reuses its pending requests (SparePending). They are given back before
   * the answer is passed on, so a callback may call the engine again. If a store answers later, the
   * pending request belongs to the store until then and is not reused: a store may read it after a
   * timeout.
   *
   * A rule with `by` takes its number from the limits of a subject (KeyPolicies, RuleNumbers). If
   * they are not at hand, the matched request has to wait (waits); Lookups loads the limits, and
   * the request is matched anew with them: at that time, by the rules in force then.
   *
   * There are several entry points. Each one that decides calls match, then decideHere or
   * decideLater or the same for many, then count once. decide and decideAt take one request;
   * decideAll and RequestBatch take many, and let the store fetch for all of them before the first
   * is decided; decideLending also passes on what was charged (Leases); decideFirst is for a
   * request whose turn it is (Queues). peek counts nothing, and refuse calls no store; refund and
   * reset continue elsewhere (Refund, Reset) with a matched request. The entry points stay in one
   * class, because all of them share the rules in force, and most of them the threads' pending
   * requests, and the shortest path is measured in nanoseconds: nothing is between it and the
   * store.
   */

  /** The retry-after of a server that is overloaded. */
  private static final long RETRY_OVERLOAD_NANOS = 1_000_000_000L;

  /** A receiver of the answer to one of several requests. */
  private interface Sink {
    void put(int index, Answer answer);
  }

  private final RoutedStore store;
  private final @Nullable LocalStore local;
  private final Ticker ticker;
  private final EngineSettings settings;
  private final LoadSignal load;
  private final RequestMatcher matcher;
  private final RuleBindings bindings;
  private final EngineCounters counters = new EngineCounters();
  private final SubjectCounters subjectCounters = new SubjectCounters();
  private final Lookups lookups;
  private final ThreadLocal<SparePending> spares = ThreadLocal.withInitial(SparePending::new);

  private final Queues queues;
  private final Leases leases;

  private volatile Revision revision = Revision.NONE;
  private volatile @Nullable DecisionObserver observer;

  private Engine(
      Store store,
      Ticker ticker,
      EngineSettings settings,
      Fingerprint fingerprint,
      LoadSignal load,
      KeyPolicies policies,
      SubjectSettings subjects) {
    this.store = store instanceof RoutedStore routed ? routed : RoutedStore.local(store);
    this.local = this.store.localStore();
    this.ticker = ticker;
    this.settings = settings;
    this.load = load;
    this.bindings =
        new RuleBindings(this.store, fingerprint, subjectCounters, settings.maxLeases() > 0);
    this.lookups = new Lookups(policies, ticker, subjects, subjectCounters);
    this.matcher =
        new RequestMatcher(
            settings, fingerprint, new Overrides(this.store), policies, lookups, subjectCounters);
    this.queues =
        new Queues(new QueueAsker(this, this.store, ticker), ticker, settings.maxWaiting());
    this.leases = new Leases(this, this.store, ticker, new LeaseLedger(settings.maxLeases()));
  }

  /**
   * Creates an engine without rules. Closing it closes the store.
   *
   * @param store a {@link RoutedStore} if rules may choose between stores; any other is the only
   *     one, which no other process shares
   */
  public static Engine create(Store store, Ticker ticker, EngineSettings settings) {
    return create(store, ticker, settings, store.fingerprint());
  }

  /**
   * Creates an engine like {@link #create(Store, Ticker, EngineSettings)}, but with fingerprints
   * that are not the store's.
   */
  public static Engine create(
      Store store, Ticker ticker, EngineSettings settings, Fingerprint fingerprint) {
    return create(store, ticker, settings, fingerprint, LoadSignal.UNKNOWN);
  }

  /**
   * Creates an engine like {@link #create(Store, Ticker, EngineSettings)}, with the load on which
   * elastic rules depend. Without it they are hard.
   */
  public static Engine create(
      Store store, Ticker ticker, EngineSettings settings, LoadSignal load) {
    return create(store, ticker, settings, store.fingerprint(), load);
  }

  /**
   * Creates an engine like {@link #create(Store, Ticker, EngineSettings, LoadSignal)}, but with
   * fingerprints that are not the store's.
   */
  public static Engine create(
      Store store,
      Ticker ticker,
      EngineSettings settings,
      Fingerprint fingerprint,
      LoadSignal load) {
    return create(
        store, ticker, settings, fingerprint, load, KeyPolicies.NONE, SubjectSettings.DEFAULTS);
  }

  /**
   * Creates an engine like {@link #create(Store, Ticker, EngineSettings, Fingerprint, LoadSignal)},
   * with the limits of subjects for rules with {@code by}. Without them such a rule has its own
   * number for all subjects.
   */
  public static Engine create(
      Store store,
      Ticker ticker,
      EngineSettings settings,
      Fingerprint fingerprint,
      LoadSignal load,
      KeyPolicies policies,
      SubjectSettings subjects) {
    return new Engine(store, ticker, settings, fingerprint, load, policies, subjects);
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
    long now = ticker.nanos();
    Revision before = revision;
    Revision after;
    try {
      after = bindings.bind(before, rules, now);
    } catch (RuntimeException | Error e) {
      counters.reloadFailures.increment();
      throw e;
    }
    revision = after;
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
    return revision.rules;
  }

  /** Returns the number of the rule set in force, 0 before the first. */
  public long revision() {
    return revision.number;
  }

  /**
   * Decides a request now.
   *
   * @throws IllegalStateException if the store does not answer on the caller's thread, or if the
   *     limits of the request's subject are not at hand
   */
  public Answer decide(Request request) {
    long now = ticker.nanos();
    return decide(request, now, now);
  }

  /**
   * Decides a request at the caller's own time, on the ticker's scale.
   *
   * @throws IllegalStateException if {@link #decide(Request)} throws it
   */
  public Answer decideAt(Request request, long nowNanos) {
    return decide(request, nowNanos, ticker.nanos());
  }

  private Answer decide(Request request, long nowNanos, long startNanos) {
    SparePending spare = spares.get();
    Revision current = revision;
    PendingRequest pending = match(spare.take(), request, current, nowNanos, load(current));
    if (pending.waits()) {
      Subjects known = knownAtOnce(request, pending);
      match(pending.with(known), request, current, nowNanos, load(current));
    }
    if (pending.isLocal()) {
      return decideHere(spare, pending, startNanos);
    }
    AtomicReference<@Nullable Answer> answer = new AtomicReference<>();
    decideLater(pending, startNanos, answer::set);
    Answer decided = answer.get();
    if (decided == null) {
      throw new IllegalStateException("store: answers later (expected: one in this process)");
    }
    return decided;
  }

  /**
   * Returns a request's subjects if their limits are known at once; later answers are dropped.
   *
   * @throws IllegalStateException if the limits are not known at once
   */
  private Subjects knownAtOnce(Request request, PendingRequest pending) {
    AtomicReference<@Nullable Subjects> known = new AtomicReference<>();
    lookups.await(request.domain(), pending.leaveSubjects(), known::set);
    Subjects subjects = known.get();
    if (subjects == null) {
      throw new IllegalStateException(
          "limits of the subject: not at hand (expected: known at once, or a callback)");
    }
    pending.clear();
    return subjects;
  }

  /**
   * Decides a request now. Calls {@code done} exactly once: before returning if the store is in
   * this process, else on a thread of the store; if the limits of the request's subject are not at
   * hand, on a thread of their source. A request that cannot be decided gets an answer with an
   * error.
   */
  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    SparePending spare = spares.get();
    Revision current = revision;
    PendingRequest pending = match(spare.take(), request, current, now, load(current));
    if (pending.waits()) {
      decideKnown(request, pending, ticker, done);
    } else {
      decide(pending, spare, now, done);
    }
  }

  /** Decides a request as soon as the limits of its subjects are known, or cannot be found. */
  private void decideKnown(
      Request request, PendingRequest waiting, Ticker time, Consumer<? super Answer> done) {
    await(
        request,
        waiting,
        done,
        (known, once) -> {
          long startNanos = ticker.nanos();
          SparePending spare = spares.get();
          Revision current = revision;
          PendingRequest pending = spare.take().with(known);
          match(pending, request, current, time.nanos(), load(current));
          decide(pending, spare, startNanos, once);
        });
  }

  /**
   * Continues a request as soon as the limits of its subjects are known, or cannot be found. The
   * request is answered even if that fails.
   *
   * @param then matches the request anew and decides it
   */
  private void await(
      Request request,
      PendingRequest waiting,
      Consumer<? super Answer> done,
      BiConsumer<Subjects, Consumer<? super Answer>> then) {
    lookups.await(
        request.domain(),
        waiting.leaveSubjects(),
        known -> {
          FirstAnswer first = new FirstAnswer(done);
          try {
            then.accept(known, first);
          } catch (Throwable e) {
            if (!first.isGiven()) {
              counters.errors.increment();
            }
            first.failed(e, revision.number);
          }
        });
  }

  /**
   * Decides a request as {@link #decide(Request, Consumer)} does, and passes on the limits that
   * decided as well.
   *
   * @param done receives the request as it was charged, and its answer; the request has no
   *     descriptors if it could not be decided
   */
  void decideLending(Request request, BiConsumer<? super PendingRequest, ? super Answer> done) {
    long now = ticker.nanos();
    Revision current = revision;
    PendingRequest pending = match(new PendingRequest(), request, current, now, load(current));
    if (!pending.waits()) {
      decideLending(pending, now, done);
      return;
    }
    AtomicReference<PendingRequest> charged = new AtomicReference<>(new PendingRequest());
    await(
        request,
        pending,
        answer -> done.accept(charged.get(), answer),
        (known, once) -> {
          long start = ticker.nanos();
          Revision then = revision;
          PendingRequest again = new PendingRequest().with(known);
          match(again, request, then, start, load(then));
          decideLending(
              again,
              start,
              (decided, answer) -> {
                charged.set(decided);
                once.accept(answer);
              });
        });
  }

  private void decideLending(
      PendingRequest pending,
      long startNanos,
      BiConsumer<? super PendingRequest, ? super Answer> done) {
    if (!pending.isLocal() && pending.problem() == null) {
      decideLater(pending, startNanos, answer -> done.accept(pending, answer));
      return;
    }
    Answer answer = answer(pending);
    if (pending.problem() == null && pending.counts()) {
      counters.took(ticker.nanos() - startNanos, 1);
    }
    count(pending, answer);
    done.accept(pending, answer);
  }

  /**
   * Decides a request whose turn it is, in other respects as {@link #decide(Request, Consumer)}.
   */
  public void decideFirst(Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    SparePending spare = spares.get();
    Revision current = revision;
    PendingRequest pending = matcher.match(spare.take(), request, current, now, load(current));
    if (pending.waits()) {
      await(
          request,
          pending,
          done,
          (known, once) -> decideFirst(new PendingRequest().with(known), request, once));
      return;
    }
    pending.asksAgain();
    decide(pending, spare, now, done);
  }

  private void decideFirst(PendingRequest pending, Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    Revision current = revision;
    matcher.match(pending, request, current, now, load(current));
    pending.asksAgain();
    decide(pending, spares.get(), now, done);
  }

  /** Returns a request with its limits, for reading only. */
  PendingRequest matched(Request request) {
    return matched(new PendingRequest().guessing(), request);
  }

  private PendingRequest matched(PendingRequest pending, Request request) {
    Revision current = revision;
    return matcher.match(pending, request, current, ticker.nanos(), load(current));
  }

  /** Finds the limits of a request, and the requests that wait for the same keys. */
  private PendingRequest match(
      PendingRequest pending, Request request, Revision current, long nowNanos, double load) {
    matcher.match(pending, request, current, nowNanos, load);
    if (!queues.isEmpty() && !pending.waits()) {
      QueueAsker.lineUp(pending, queues);
    }
    return pending;
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    Revision current = revision;
    PendingRequest pending = match(new PendingRequest(), request, current, now, load(current));
    if (pending.waits()) {
      await(
          request,
          pending,
          done,
          (known, once) -> {
            Revision then = revision;
            PendingRequest again = new PendingRequest().with(known);
            peek(match(again, request, then, ticker.nanos(), load(then)), once);
          });
    } else {
      peek(pending, done);
    }
  }

  private void peek(PendingRequest pending, Consumer<? super Answer> done) {
    pending.peek();
    if (pending.isLocal()) {
      done.accept(answer(pending));
    } else {
      store.decide(
          pending.charges(), pending.nowNanos(), decided -> done.accept(pending.answer(settings)));
    }
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    PendingRequest pending = matched(new PendingRequest().remembering(answer), request);
    new Refund(pending, answer, store, done).give();
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
  public void reset(Request request, Consumer<? super Forgotten> done) {
    PendingRequest pending = matched(request);
    counters.resets.increment();
    new Reset(pending, store, done).start();
  }

  /** Returns how many requests were reset. */
  public long resets() {
    return counters.resets.sum();
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return queues.enqueue(request, refused, maxWaitNanos, done);
  }

  private void decide(
      PendingRequest pending, SparePending spare, long now, Consumer<? super Answer> done) {
    if (pending.isLocal()) {
      done.accept(decideHere(spare, pending, now));
    } else {
      decideLater(pending, now, done);
    }
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
    Arrays.fill(nowNanos, ticker.nanos());
    Arrays.fill(loads, load(revision));
    store.together(() -> decideAll(requests, nowNanos, loads, ticker, answers::put));
    answers.allAsked(); // Not before: its callback may wait for another decision.
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
    decideAll(requests, nowNanos, loads, null, (i, answer) -> done.accept(answer));
  }

  /**
   * Decides many requests of one revision.
   *
   * @param waited gives the time at which a request is decided that has waited; null if that is its
   *     own
   */
  private void decideAll(
      List<Request> requests, long[] nowNanos, double[] loads, @Nullable Ticker waited, Sink sink) {
    long startNanos = ticker.nanos();
    SparePending spare = spares.get();
    Revision current = revision;
    int size = requests.size();
    PendingRequest[] pending = new PendingRequest[size];
    for (int i = 0; i < size; i++) {
      pending[i] = match(spare.take(), requests.get(i), current, nowNanos[i], loads[i]);
      store.expect(pending[i].charges());
    }
    @Nullable Answer[] answers = new Answer[size];
    int here = 0;
    for (int i = 0; i < size; i++) {
      int index = i;
      if (pending[i].waits()) {
        long own = nowNanos[i];
        Ticker time = waited == null ? () -> own : waited;
        decideKnown(requests.get(i), pending[i], time, answer -> sink.put(index, answer));
      } else if (pending[i].isLocal()) {
        answers[i] = answer(pending[i]);
        here += pending[i].problem() == null ? 1 : 0;
      } else {
        decideLater(pending[i], startNanos, answer -> sink.put(index, answer));
      }
    }
    counters.took(ticker.nanos() - startNanos, here);
    for (int i = 0; i < size; i++) {
      Answer answer = answers[i];
      if (answer != null) {
        count(pending[i], answer);
        spare.giveBack(pending[i]);
        sink.put(i, answer);
      }
    }
  }

  /**
   * Returns an empty batch of requests for this engine.
   *
   * @param capacity how many requests it holds at most, 1 to 65536
   */
  public RequestBatch batch(int capacity) {
    return new RequestBatch(this, capacity);
  }

  /** Returns the time at which a batch begins. */
  long nanos() {
    return ticker.nanos();
  }

  /**
   * Finds the limits of a request of a batch; returns false if it cannot be decided here and at
   * once.
   */
  boolean match(
      PendingRequest pending,
      String domain,
      String[] keysAndValues,
      int count,
      long permits,
      long nowNanos) {
    Revision current = revision;
    RequestMatcher.Way way =
        matcher.matchPlainly(pending, domain, keysAndValues, count, permits, current, nowNanos);
    if (way == RequestMatcher.Way.LATER || local == null) {
      pending.clear();
      return false;
    }
    if (way == RequestMatcher.Way.HERE || !queues.isEmpty()) {
      pending.clear();
      Request request = RequestBatch.request(domain, keysAndValues, count, permits);
      match(pending, request, current, nowNanos, load(current));
    }
    store.expect(pending.charges());
    return true;
  }

  /** Decides the requests of a batch in their order. */
  void decide(RequestBatch batch, long startNanos) {
    int decided = 0;
    for (int i = 0; i < batch.size(); i++) {
      PendingRequest pending = batch.pending(i);
      if (!pending.isPlain()) {
        batch.made(i, answer(pending));
        decided += pending.problem() == null ? 1 : 0;
      } else if (local != null) {
        local.decide(pending.charges(), pending.nowNanos());
        pending.countPlain(settings.nearLimitPercent());
        decided++;
      }
    }
    counters.took(ticker.nanos() - startNanos, decided);
    DecisionObserver told = observer;
    for (int i = 0; i < batch.size(); i++) {
      PendingRequest pending = batch.pending(i);
      Answer answer = batch.made(i);
      if (answer == null) {
        counters.decided(batch.allowed(i), pending.charges());
        if (told != null) {
          pending.tellPlain(told, batch.allowed(i));
        }
      } else {
        count(pending, answer);
      }
    }
  }

  /** Returns the answer to a plain request of a batch that has been decided. */
  Answer answerPlain(PendingRequest pending) {
    return pending.answerPlain(settings);
  }

  /** Returns whether the engine only watches. */
  boolean onlyWatches() {
    return settings.shadowMode();
  }

  /**
   * Answers a request without deciding it, because there is no time for that: with {@link
   * Reason#OVERLOADED}. The request passes if all policies that could refuse it have the failure
   * mode {@code ALLOW}; {@code LOCAL} denies: there is no time to decide in this process either.
   * Charges nothing.
   */
  public void refuse(Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    SparePending spare = spares.get();
    PendingRequest pending =
        matcher.match(spare.take().guessing(), request, revision, now, Double.NaN);
    Answer answer;
    if (pending.problem() == null) {
      Charges charges = pending.charges();
      for (int i = 0; i < charges.size(); i++) {
        charges.result(i, Reason.OVERLOADED, 0, RETRY_OVERLOAD_NANOS, 0, now);
      }
      charges.settle();
      answer = pending.answer(settings);
      counters.overloaded(answer);
      observed(pending, answer);
    } else {
      answer = invalid(pending);
      counters.errors.increment();
    }
    spare.giveBack(pending);
    done.accept(answer);
  }

  /** Returns the load if any rule depends on it: polling it may cost a reading of the clock. */
  private double load(Revision current) {
    return current.elastic ? load.load() : Double.NaN;
  }

  private Answer decideHere(SparePending spare, PendingRequest pending, long startNanos) {
    Answer answer = answer(pending);
    if (pending.problem() == null && pending.counts()) {
      counters.took(ticker.nanos() - startNanos, 1);
    }
    count(pending, answer);
    spare.giveBack(pending);
    return answer;
  }

  /** Decides a request on this thread. */
  private Answer answer(PendingRequest pending) {
    if (pending.problem() != null) {
      return invalid(pending);
    }
    Charges charges = pending.charges();
    if (local == null || charges.size() == 0) {
      charges.settle(); // Nothing is charged, so no store is needed.
    } else {
      local.decide(charges, pending.nowNanos());
    }
    return pending.answer(settings);
  }

  private static Answer invalid(PendingRequest pending) {
    return Answer.error(String.valueOf(pending.problem()), pending.revision().number);
  }

  /** Sends a request to the store, which may decide it later and on another thread. */
  private void decideLater(PendingRequest pending, long startNanos, Consumer<? super Answer> done) {
    store.decide(
        pending.charges(),
        pending.nowNanos(),
        decided -> {
          Answer answer = pending.answer(settings);
          if (pending.counts()) {
            counters.took(ticker.nanos() - startNanos, 1);
          }
          count(pending, answer);
          done.accept(answer);
        });
  }

  private void count(PendingRequest pending, Answer answer) {
    if (!pending.counts()) {
      return;
    }
    if (pending.problem() == null) {
      counters.decided(answer.allowed(), pending.charges());
      subjectCounters.decided(pending);
      observed(pending, answer);
    } else {
      counters.errors.increment();
    }
  }

  /** Returns the part that lends permits to clients. */
  public Leases leases() {
    return leases;
  }

  private void observed(PendingRequest pending, Answer answer) {
    DecisionObserver told = observer;
    if (told != null) {
      pending.tell(told, answer);
    }
  }

  /** Forgets state that no longer matters, a bounded amount; to be called about every second. */
  public void expire() {
    leases.expire();
    store.expire(ticker.nanos());
  }

  /** Returns how full the store in this process is, the fuller of keys and bytes, 0 to 100. */
  public int fullPercent() {
    return store.fullPercent();
  }

  /** Returns the counts of the engine. */
  public EngineMetrics metrics() {
    Revision current = revision;
    return counters.snapshot(
        bindings.metrics(current.rules), store, current.number, queues.metrics());
  }

  /**
   * Returns the counts of the engine like {@link #metrics}, but with one element for each path of a
   * rule, whatever labels it counts by, and in no order. Cheaper for a caller that reads them every
   * second.
   */
  public EngineMetrics totals() {
    Revision current = revision;
    return counters.snapshot(
        bindings.totals(current.rules), store, current.number, queues.metrics());
  }

  /**
   * Sets the observer of everything that is decided and counted from now on, instead of the one
   * before.
   */
  public void observe(DecisionObserver newObserver) {
    observer = newObserver;
  }

  /** Returns the counts of subjects, for rules with {@code by}. */
  public SubjectMetrics subjectMetrics() {
    return subjectCounters.snapshot(lookups.waiting());
  }

  @Override
  public void close() {
    try {
      lookups.close();
    } finally {
      queues.close();
      store.close();
    }
  }
}
