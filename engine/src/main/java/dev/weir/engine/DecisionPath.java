package dev.weir.engine;

import dev.weir.Charges;
import dev.weir.LoadSignal;
import dev.weir.LocalStore;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.internal.matching.Overrides;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.matching.RequestMatcher;
import dev.weir.engine.internal.matching.Revision;
import dev.weir.engine.internal.matching.SparePending;
import dev.weir.engine.internal.metrics.EngineCounters;
import dev.weir.engine.internal.queues.FirstAnswer;
import dev.weir.engine.internal.queues.Queues;
import dev.weir.engine.internal.subjects.Lookups;
import dev.weir.engine.internal.subjects.SubjectCounters;
import dev.weir.engine.internal.subjects.Subjects;
import dev.weir.rules.Request;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The path of a request through an engine: it is matched, waits for the limits of its subjects if
 * they are not at hand, is decided by its store, and counted. Safe for use by many threads; each
 * request is decided by exactly one revision of the rules.
 */
final class DecisionPath implements AutoCloseable {
  /*
   * How does a request become an answer? RequestMatcher checks the request and finds a rule for
   * each descriptor (BoundRule); each rule with a limit becomes a charge (PendingRequest); the
   * store makes all charges or none; PendingRequest makes the outcome of each descriptor (Status)
   * and counts it.
   *
   * All kinds of request take this path: those that are decided, peeked at, lent for, or first in a
   * queue. A kind is nothing but a supplier of pending requests, which carry it. So a request that
   * has to wait (waits) is the same kind when it goes on: a rule with `by` takes its number from
   * the limits of a subject (KeyPolicies, RuleNumbers); if they are not at hand, Lookups loads them,
   * and the request is matched anew with them, at that time, by the rules in force then.
   *
   * If all charges are in a store that decides on the caller's thread, nothing but the answer is
   * allocated: the thread reuses its pending requests (SparePending). They are given back before
   * the answer is passed on, so a callback may call the engine again. If a store answers later, the
   * pending request belongs to the store until then and is not reused: a store may read it after a
   * timeout. One that is kept for a lease is not reused either.
   *
   * Many requests at once (decideAll, RequestBatch) are matched first and decided after that, so
   * that the store fetches for all of them before the first is decided.
   */

  /** The retry-after of a server that is overloaded. */
  private static final long RETRY_OVERLOAD_NANOS = 1_000_000_000L;

  /** A receiver of the answer to one of several requests. */
  interface Sink {
    void put(int index, Answer answer);
  }

  final RoutedStore store;
  final Ticker ticker;
  final EngineCounters counters;
  final Lookups lookups;
  final Queues queues;
  volatile Revision revision = Revision.NONE;
  volatile @Nullable DecisionObserver observer;
  private final @Nullable LocalStore local;
  private final EngineSettings settings;
  private final LoadSignal load;
  final RefundsByNumber refunds;
  private final RequestMatcher matcher;
  private final SubjectCounters subjectCounters;
  private final ThreadLocal<SparePending> spares = ThreadLocal.withInitial(SparePending::new);
  private final Supplier<PendingRequest> decisions = this::decision;
  private final Supplier<PendingRequest> turns = this::turn;
  private final Supplier<PendingRequest> peeks = this::peek;

  DecisionPath(
      RoutedStore store,
      Engine.Builder parts,
      EngineCounters counters,
      SubjectCounters subjectCounters) {
    this.store = store;
    this.local = store.localStore();
    this.ticker = parts.ticker;
    this.settings = parts.settings;
    this.load = parts.load;
    this.counters = counters;
    this.subjectCounters = subjectCounters;
    this.refunds = new RefundsByNumber(store);
    this.lookups = new Lookups(parts.policies, ticker, parts.subjects, subjectCounters);
    this.matcher =
        new RequestMatcher(
            settings,
            parts.fingerprint(),
            new Overrides(store),
            parts.policies,
            lookups,
            subjectCounters);
    this.queues = new Queues(new QueueDecider(this), ticker, settings.maxWaiting());
  }

  private PendingRequest decision() {
    return spares.get().take();
  }

  private PendingRequest turn() {
    return spares.get().take().turn();
  }

  private PendingRequest peek() {
    return spares.get().take().peek();
  }

  /**
   * Decides a request at once.
   *
   * @throws IllegalStateException if the store does not answer on the caller's thread, or if the
   *     limits of the request's subject are not at hand
   */
  Answer decide(Request request, long nowNanos, long startNanos) {
    PendingRequest pending = match(decisions.get(), request, nowNanos);
    if (pending.waits()) {
      Subjects known = knownAtOnce(request, pending);
      match(pending.with(known), request, nowNanos);
    }
    if (pending.isLocal()) {
      return decideHere(pending, startNanos);
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

  /** Decides a request, charges and counts it. */
  void decide(Request request, Consumer<? super Answer> done) {
    take(request, decisions, done);
  }

  /**
   * Decides a request whose turn it is in a queue: those that wait are not before it, and a refusal
   * does not count, since one was counted when the request came.
   */
  void decideFirst(Request request, Consumer<? super Answer> done) {
    take(request, turns, done);
  }

  /** Decides a request without charging or counting it. */
  void peek(Request request, Consumer<? super Answer> done) {
    take(request, peeks, done);
  }

  /**
   * Decides a request like {@link #decide(Request, Consumer)}, and passes on what was charged.
   *
   * @param done receives the request as it was charged, and its answer, which is an error if it
   *     could not be decided
   */
  void decideLending(Request request, BiConsumer<? super PendingRequest, ? super Answer> done) {
    AtomicReference<PendingRequest> charged = new AtomicReference<>();
    Supplier<PendingRequest> loans =
        () -> {
          PendingRequest next = new PendingRequest().keep();
          charged.set(next);
          return next;
        };
    take(request, loans, answer -> done.accept(charged.get(), answer));
  }

  /**
   * Takes a request through all steps. Calls {@code done} exactly once; see {@link Engine#decide}.
   */
  private void take(Request request, Supplier<PendingRequest> kind, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    PendingRequest pending = match(kind.get(), request, now);
    if (pending.waits()) {
      await(pending, request, kind, ticker, done);
    } else {
      finish(pending, now, done);
    }
  }

  /**
   * Continues a request as soon as the limits of its subjects are known, or cannot be found. The
   * request is answered even if that fails.
   *
   * @param time gives the instant at which it is decided
   */
  private void await(
      PendingRequest waiting,
      Request request,
      Supplier<PendingRequest> kind,
      Ticker time,
      Consumer<? super Answer> done) {
    lookups.await(
        request.domain(),
        waiting.leaveSubjects(),
        known -> {
          FirstAnswer first = new FirstAnswer(done);
          try {
            long startNanos = ticker.nanos();
            finish(match(kind.get().with(known), request, time.nanos()), startNanos, first);
          } catch (Throwable e) {
            if (!first.isGiven()) {
              counters.errors.increment();
            }
            first.failed(e, revision.number);
          }
        });
  }

  private void finish(PendingRequest pending, long startNanos, Consumer<? super Answer> done) {
    if (pending.isLocal()) {
      done.accept(decideHere(pending, startNanos));
    } else {
      decideLater(pending, startNanos, done);
    }
  }

  /** Decides a matched request on this thread, and counts it. */
  private Answer decideHere(PendingRequest pending, long startNanos) {
    Answer answer = answer(pending);
    if (pending.problem() == null && pending.counts()) {
      counters.took(ticker.nanos() - startNanos, 1);
    }
    count(pending, answer);
    spares.get().giveBack(pending);
    return answer;
  }

  /** Sends a request to the store, which may decide it later and on another thread. */
  private void decideLater(PendingRequest pending, long startNanos, Consumer<? super Answer> done) {
    refunds.give(pending);
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

  /** Decides a request on this thread. */
  private Answer answer(PendingRequest pending) {
    if (pending.problem() != null) {
      return invalid(pending);
    }
    refunds.give(pending);
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

  private void count(PendingRequest pending, Answer answer) {
    if (!pending.counts()) {
      return;
    }
    if (pending.problem() == null) {
      counters.decided(answer.allowed(), pending.charges());
      refunds.decided(pending);
      subjectCounters.decided(pending);
      observed(pending, answer);
    } else {
      counters.errors.increment();
    }
  }

  private void observed(PendingRequest pending, Answer answer) {
    DecisionObserver current = observer;
    if (current != null) {
      pending.observe(current, answer);
    }
  }

  /** Returns the load if any rule depends on it: polling it may cost a reading of the clock. */
  double load(Revision current) {
    return current.elastic ? load.load() : Double.NaN;
  }

  private PendingRequest match(PendingRequest pending, Request request, long nowNanos) {
    Revision current = revision;
    return match(pending, request, current, nowNanos, load(current));
  }

  /** Finds the limits of a request, and the requests that wait for the same keys. */
  private PendingRequest match(
      PendingRequest pending, Request request, Revision current, long nowNanos, double loadThen) {
    matcher.match(pending, request, current, nowNanos, loadThen);
    if (!queues.isEmpty() && !pending.waits() && !pending.isTurn()) {
      QueueDecider.lineUp(pending, queues);
    }
    return pending;
  }

  /** Returns a request with its limits, for reading only. */
  PendingRequest matched(Request request) {
    return matched(new PendingRequest().guessing(), request);
  }

  /** Returns a request with the limits by which an answer decided it, for reading only. */
  PendingRequest matched(Request request, Answer answer) {
    return matched(new PendingRequest().remembering(answer), request);
  }

  private PendingRequest matched(PendingRequest pending, Request request) {
    Revision current = revision;
    return matcher.match(pending, request, current, ticker.nanos(), load(current));
  }

  /**
   * Answers a request without deciding it, with {@link Reason#OVERLOADED}; see {@link
   * Engine#refuse}.
   */
  void refuse(Request request, Consumer<? super Answer> done) {
    long now = ticker.nanos();
    PendingRequest pending =
        matcher.match(decisions.get().guessing(), request, revision, now, Double.NaN);
    Answer answer;
    if (pending.problem() == null) {
      Charges charges = pending.charges();
      for (int i = 0; i < charges.size(); i++) {
        charges.result(i, Reason.OVERLOADED, 0, RETRY_OVERLOAD_NANOS, 0, now);
      }
      charges.settle();
      answer = pending.answer(settings);
      counters.overloaded(answer);
      refunds.decided(pending);
      observed(pending, answer);
    } else {
      answer = invalid(pending);
      counters.errors.increment();
    }
    spares.get().giveBack(pending);
    done.accept(answer);
  }

  /**
   * Decides many requests by one revision.
   *
   * @param waited gives the instant at which a request is decided that has waited; null if that is
   *     its own
   */
  void decideAll(
      List<Request> requests, long[] nowNanos, double[] loads, @Nullable Ticker waited, Sink sink) {
    long startNanos = ticker.nanos();
    Revision current = revision;
    int size = requests.size();
    PendingRequest[] pending = new PendingRequest[size];
    Charges[] charges = new Charges[size];
    for (int i = 0; i < size; i++) {
      pending[i] = match(decisions.get(), requests.get(i), current, nowNanos[i], loads[i]);
      charges[i] = pending[i].charges();
    }
    store.expect(charges, size);
    @Nullable Answer[] answers = new Answer[size];
    int here = 0;
    for (int i = 0; i < size; i++) {
      int index = i;
      if (pending[i].waits()) {
        long own = nowNanos[i];
        Ticker time = waited == null ? () -> own : waited;
        await(pending[i], requests.get(i), decisions, time, answer -> sink.put(index, answer));
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
        spares.get().giveBack(pending[i]);
        sink.put(i, answer);
      }
    }
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
    return true;
  }

  /** Decides the requests of a batch in their order. */
  void decide(RequestBatch batch, long startNanos) {
    store.expect(batch.charges(), batch.size());
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
    DecisionObserver current = observer;
    for (int i = 0; i < batch.size(); i++) {
      PendingRequest pending = batch.pending(i);
      Answer answer = batch.made(i);
      if (answer == null) {
        counters.decided(batch.allowed(i), pending.charges());
        refunds.decided(pending);
        if (current != null) {
          pending.observePlain(current, batch.allowed(i));
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

  /** Ends all waiting; then closes the store. */
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
