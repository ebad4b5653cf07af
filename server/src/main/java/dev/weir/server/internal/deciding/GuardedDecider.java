package dev.weir.server.internal.deciding;

import dev.weir.FailureMode;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.Grant;
import dev.weir.engine.LoanRequest;
import dev.weir.engine.RequestBatch;
import dev.weir.engine.Ticket;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.rules.Request;
import dev.weir.server.internal.guard.LoopLag;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.log.RefusalLog;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * The decider of the requests of all protocols. It passes them to the engine, or to the upstream
 * server of a sidecar, except in three cases. Before the first rules are in force, every request is
 * answered UNCERTAIN. If the event loop is too far behind, requests are answered OVERLOADED: the
 * client has waited too long and should not be charged. If the requests that wait for their
 * decision take too much memory, further ones are answered OVERLOADED too. Safe for use by many
 * threads.
 */
public final class GuardedDecider implements Decider {
  /** The approximate bytes of a lease or charge that is being given back. */
  private static final long RETURN_BYTES = 64;

  private final Engine engine;
  private final SystemLoad load;
  private final Ticker ticker;
  private final UndecidedAnswers unknown;
  private final RequestRecorder recorder;
  private final RefusalLog refusals;
  private final DecisionSource source;
  private final UndecidedBytes undecided;

  /** True if the engine may decide a request that nothing else has to see. */
  private final boolean addsToBatches;

  /** Makes a decider that uses an engine, and neither records nor logs its requests. */
  public GuardedDecider(Engine engine, SystemLoad load, Ticker ticker) {
    this(builder(engine, load, ticker));
  }

  private GuardedDecider(Builder parts) {
    engine = parts.engine;
    load = parts.load;
    ticker = parts.ticker;
    unknown = new UndecidedAnswers(parts.withoutRules == FailureMode.ALLOW, ticker);
    recorder = parts.recorder;
    refusals = parts.refusals;
    undecided = parts.undecided;
    source =
        parts
            .upstream
            .<DecisionSource>map(upstream -> new UpstreamDecisions(upstream, unknown))
            .orElseGet(() -> new EngineDecisions(engine, load));
    addsToBatches =
        parts.upstream.isEmpty()
            && recorder == RequestRecorder.NONE
            && !refusals.isOn()
            && !load.countsRequests();
  }

  /** Returns a builder of a decider that uses an engine. */
  public static Builder builder(Engine engine, SystemLoad load, Ticker ticker) {
    return new Builder(engine, load, ticker);
  }

  /** A builder of a {@link GuardedDecider}. Not safe for use by several threads. */
  public static final class Builder {
    private final Engine engine;
    private final SystemLoad load;
    private final Ticker ticker;
    private FailureMode withoutRules = FailureMode.DENY;
    private RequestRecorder recorder = RequestRecorder.NONE;
    private RefusalLog refusals = RefusalLog.NONE;
    private Optional<? extends Decider> upstream = Optional.empty();
    private UndecidedBytes undecided = new UndecidedBytes(Long.MAX_VALUE);

    private Builder(Engine engine, SystemLoad load, Ticker ticker) {
      this.engine = engine;
      this.load = load;
      this.ticker = ticker;
    }

    /** Sets the answer before the first rules; only ALLOW lets requests pass. Default: DENY. */
    public Builder withoutRules(FailureMode mode) {
      withoutRules = mode;
      return this;
    }

    /**
     * Sets the recorder of every request that rules decide, or that is refused because the server
     * is overloaded. Default: none.
     */
    public Builder recorder(RequestRecorder newRecorder) {
      recorder = newRecorder;
      return this;
    }

    /** Sets the log of refused requests. Default: none. */
    public Builder refusals(RefusalLog newRefusals) {
      refusals = newRefusals;
      return this;
    }

    /** Sets a decider in place of the engine, which has no rules then. Default: none. */
    public Builder upstream(Optional<? extends Decider> newUpstream) {
      upstream = newUpstream;
      return this;
    }

    /**
     * Sets the counter of the requests that wait for their decision. Default: one without bound.
     */
    public Builder undecided(UndecidedBytes newUndecided) {
      undecided = newUndecided;
      return this;
    }

    public GuardedDecider build() {
      return new GuardedDecider(this);
    }
  }

  /** Returns the clock. */
  public Ticker ticker() {
    return ticker;
  }

  public Engine engine() {
    return engine;
  }

  public SystemLoad load() {
    return load;
  }

  /** Returns whether requests that arrive now are refused without being decided. */
  private boolean overloaded(long nowNanos, int requests) {
    return LoopLag.here().overloaded(nowNanos, requests) || undecided.isFull();
  }

  private static long memoryBytes(List<Request> requests) {
    long bytes = 0;
    for (Request request : requests) {
      bytes += request.memoryBytes();
    }
    return bytes;
  }

  /**
   * Decides many requests in one call. See {@link Engine#decideAll(List, Consumer)}. Requests of a
   * batch do not wait for their turn.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the requests
   */
  public void decideAll(
      List<Request> requests, LongSupplier beside, Consumer<? super List<Answer>> last) {
    BudgetedCall<List<Answer>> call =
        new BudgetedCall<>(refusals.isOn() ? logging(requests, last) : last);
    try {
      decideCall(requests, beside, call);
    } finally {
      call.end();
    }
  }

  private void decideCall(
      List<Request> requests, LongSupplier beside, Consumer<? super List<Answer>> done) {
    if (!source.decides()) {
      done.accept(requests.stream().map(unknown::withoutRules).toList());
      return;
    }
    long now = ticker.nanos();
    for (int i = 0; i < requests.size(); i++) {
      recorder.add(requests.get(i), now);
    }
    if (overloaded(now, requests.size())) {
      List<Answer> answers = new ArrayList<>(requests.size());
      requests.forEach(request -> source.refuse(request, answers::add));
      done.accept(answers);
      return;
    }
    UndecidedBytes.PendingDecision<List<Answer>> waiting = undecided.until(done);
    source.decideAll(requests, waiting);
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + memoryBytes(requests));
    }
  }

  private Consumer<List<Answer>> logging(
      List<Request> requests, Consumer<? super List<Answer>> last) {
    return answers -> {
      for (int i = 0; i < answers.size(); i++) {
        refusals.refused(requests.get(i), answers.get(i));
      }
      last.accept(answers);
    };
  }

  /**
   * Decides the checks of one call.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the requests
   */
  public void decideAll(
      CheckBatch batch, LongSupplier beside, Consumer<? super CheckBatch.Results> done) {
    decideAll(
        batch.requests(),
        beside,
        answers -> done.accept(batch.results(answers, source.revision(answers))));
  }

  /**
   * Takes back what a call gives back, and then decides its requests and lends permits.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the requests
   */
  public void lend(LeaseCall call, LongSupplier beside, Consumer<? super LeaseCall.Results> last) {
    BudgetedCall<LeaseCall.Results> budgeted = new BudgetedCall<>(last);
    try {
      lendCall(call, beside, budgeted);
    } finally {
      budgeted.end();
    }
  }

  private void lendCall(
      LeaseCall call, LongSupplier beside, Consumer<? super LeaseCall.Results> done) {
    long now = ticker.nanos();
    UndecidedBytes.PendingDecision<LeaseCall.Results> waiting = undecided.until(done);
    if (source.decides() && overloaded(now, call.requests().size())) {
      List<Grant> grants = new ArrayList<>(call.requests().size());
      for (LoanRequest ask : call.requests()) {
        source.refuse(
            ask.request(),
            answer -> {
              refusals.refused(ask.request(), answer);
              grants.add(Grant.nothing(answer));
            });
      }
      takeBack(call, takenBack -> waiting.accept(results(call, grants, takenBack)));
    } else {
      takeBack(call, takenBack -> grantAll(call, takenBack, waiting));
    }
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + memoryBytes(call));
    }
  }

  private static long memoryBytes(LeaseCall call) {
    long bytes = RETURN_BYTES * (call.returns().size() + call.refunds().size());
    for (LoanRequest ask : call.requests()) {
      bytes += ask.request().memoryBytes();
    }
    return bytes;
  }

  private LeaseCall.Results results(LeaseCall call, List<Grant> grants, long takenBack) {
    List<Answer> answers = grants.stream().map(Grant::answer).toList();
    return call.results(grants, source.revision(answers), takenBack);
  }

  private void takeBack(LeaseCall call, LongConsumer done) {
    Tally back = new Tally(call.returns().size() + call.refunds().size(), done);
    for (LeaseCall.Return each : call.returns()) {
      engine.leases().giveBack(each.lease(), each.permits(), back::add);
    }
    for (long charge : call.refunds()) {
      engine.leases().refund(charge, back::add);
    }
    back.add(0);
  }

  private void grantAll(LeaseCall call, long takenBack, Consumer<? super LeaseCall.Results> done) {
    int size = call.requests().size();
    AtomicReferenceArray<Grant> grants = new AtomicReferenceArray<>(size);
    Tally all =
        new Tally(
            size,
            unused -> {
              List<Grant> list = new ArrayList<>(size);
              for (int i = 0; i < size; i++) {
                list.add(Objects.requireNonNull(grants.get(i)));
              }
              done.accept(results(call, list, takenBack));
            });
    for (int i = 0; i < size; i++) {
      int index = i;
      decideLending(
          call.requests().get(i),
          grant -> {
            grants.set(index, grant);
            all.add(0);
          });
    }
    all.add(0);
  }

  private void decideLending(LoanRequest ask, Consumer<? super Grant> last) {
    Consumer<Grant> done =
        refusals.isOn()
            ? grant -> {
              refusals.refused(ask.request(), grant.answer());
              last.accept(grant);
            }
            : last::accept;
    if (!source.decides()) {
      done.accept(Grant.nothing(unknown.withoutRules(ask.request())));
      return;
    }
    recorder.add(ask.request(), ticker.nanos());
    source.request(ask, done);
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    decide(request, () -> 0, done);
  }

  /**
   * Decides a request. See {@link #decide(Request, Consumer)}.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the request
   */
  public void decide(Request request, LongSupplier beside, Consumer<? super Answer> last) {
    Consumer<? super Answer> done = refusals.before(last, request, true);
    if (!source.decides()) {
      done.accept(unknown.withoutRules(request));
      return;
    }
    long now = ticker.nanos();
    recorder.add(request, now);
    if (overloaded(now, 1)) {
      source.refuse(request, done);
      return;
    }
    UndecidedBytes.PendingDecision<Answer> waiting = undecided.until(done);
    source.decide(request, waiting);
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + request.memoryBytes());
    }
  }

  /**
   * Decides a request, and holds the most that it may cost. See {@link dev.weir.engine.Holds#hold}.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the request
   */
  public void hold(Request request, LongSupplier beside, Consumer<? super HoldAnswer> last) {
    decideKept(
        request,
        beside,
        last,
        new KeptKind<>(HoldAnswer::answer, answer -> new HoldAnswer(answer, ""), source::hold));
  }

  /**
   * Settles a hold. See {@link dev.weir.engine.Holds#settle}.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the hold
   * @throws IllegalArgumentException if it is no hold, or the costs do not fit it
   */
  public void settle(
      String hold, List<Long> costs, LongSupplier beside, Consumer<? super Settlement> done) {
    if (undecided.isFull()) {
      done.accept(new Settlement(Settlement.Outcome.UNCERTAIN, 0, 0)); // It may be sent again.
      return;
    }
    UndecidedBytes.PendingDecision<Settlement> waiting = undecided.until(done);
    source.settle(hold, costs, waiting);
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + 2L * hold.length());
    }
  }

  /**
   * Decides a request, and returns the seats that it has taken. See {@link
   * dev.weir.engine.Seats#acquire}.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the request
   */
  public void acquire(Request request, LongSupplier beside, Consumer<? super SeatAnswer> last) {
    decideKept(
        request,
        beside,
        last,
        new KeptKind<>(
            SeatAnswer::answer, answer -> new SeatAnswer(answer, "", 0), source::acquire));
  }

  /**
   * A kind of answer with a text that the client keeps.
   *
   * @param without makes one whose text is empty, for a request that is not admitted
   */
  private record KeptKind<A>(
      Function<A, Answer> answer,
      Function<Answer, A> without,
      BiConsumer<Request, Consumer<A>> decide) {}

  private <A> void decideKept(
      Request request, LongSupplier beside, Consumer<? super A> last, KeptKind<A> kind) {
    Consumer<A> done =
        refusals.isOn()
            ? kept -> {
              refusals.refused(request, kind.answer().apply(kept));
              last.accept(kept);
            }
            : last::accept;
    if (!source.decides()) {
      done.accept(kind.without().apply(unknown.withoutRules(request)));
      return;
    }
    long now = ticker.nanos();
    recorder.add(request, now);
    if (overloaded(now, 1)) {
      source.refuse(request, answer -> done.accept(kind.without().apply(answer)));
      return;
    }
    UndecidedBytes.PendingDecision<A> waiting = undecided.until(done);
    kind.decide().accept(request, waiting);
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + request.memoryBytes());
    }
  }

  /**
   * Renews seats, or gives them back. See {@link dev.weir.engine.Seats}.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the seats
   * @param done receives the outcomes, in the order of the seats
   * @throws IllegalArgumentException if one is no seat; nothing is done then
   */
  public void seats(
      SeatCall call,
      List<String> seats,
      LongSupplier beside,
      Consumer<? super List<SeatOutcome>> done) {
    if (undecided.isFull()) {
      done.accept(Collections.nCopies(seats.size(), SeatOutcome.UNCERTAIN)); // To be sent again.
      return;
    }
    List<TakenSeat> taken = seats.stream().map(source::seatOf).toList(); // All, before any call.
    UndecidedBytes.PendingDecision<List<SeatOutcome>> waiting = undecided.until(done);
    AnswerCollector<SeatOutcome> outcomes = new AnswerCollector<>(seats.size(), waiting);
    long bytes = 0;
    for (int i = 0; i < taken.size(); i++) {
      int index = i;
      bytes += 2L * seats.get(i).length();
      Consumer<SeatOutcome> each = outcome -> outcomes.put(index, outcome);
      switch (call) {
        case RENEW -> taken.get(i).renew(each);
        case RELEASE -> taken.get(i).release(each);
      }
    }
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + bytes);
    }
  }

  /**
   * Adds a request to a batch of the engine's, which {@link #decide(RequestBatch)} decides soon.
   *
   * @param nowNanos the time at which it was read
   * @return whether it was added; if not, {@link #decide(Request, Consumer)} or {@link #decideAll}
   *     must decide it, after the batch
   */
  public boolean add(
      RequestBatch batch,
      String domain,
      String[] keysAndValues,
      int count,
      long permits,
      long nowNanos) {
    return addsToBatches
        && source.decides()
        && !LoopLag.here().overloaded(nowNanos, 0)
        && batch.add(domain, keysAndValues, count, permits);
  }

  /** Decides the requests of a batch, which {@link #add} has added. */
  public void decide(RequestBatch batch) {
    LoopLag.here().count(batch.size()); // Not earlier: the caller may use another method.
    batch.decide();
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    if (source.decides()) {
      source.peek(request, done);
    } else {
      done.accept(unknown.withoutRules(request));
    }
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    source.refund(request, answer, done);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return source.enqueue(request, refused, maxWaitNanos, refusals.before(done, request, false));
  }
}
