package dev.weir.server.internal.deciding;

import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.Grant;
import dev.weir.engine.LeaseAsk;
import dev.weir.engine.RequestBatch;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.replay.RecordedTraffic;
import dev.weir.rules.Request;
import dev.weir.server.internal.guard.LoopLag;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.log.RefusalLog;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The decider of the requests of all protocols. It passes them to the engine except in two cases.
 * If their event loop is too far behind, the client has waited too long and should not be charged.
 * If the requests that wait for their decision take too much memory, further ones are refused.
 * Before the first rules are in force every request is answered UNCERTAIN. Safe for use by many
 * threads.
 */
public final class GuardedDecider implements Decider {
  /**
   * The retry-after of requests that could not be decided, the same as with a store that does not
   * answer.
   */
  private static final long RETRY_NANOS = 1_000_000_000L;

  /** The approximate bytes of a lease or charge that is being given back. */
  private static final long RETURN_BYTES = 64;

  private final Engine engine;
  private final SystemLoad load;
  private final Ticker ticker;
  private final boolean passWithoutRules;
  private final @Nullable RecordedTraffic traffic;
  private final @Nullable RefusalLog refusals;

  /** The decider in place of the engine, which has no rules then; null if the engine decides. */
  private final @Nullable Decider upstream;

  private final UndecidedBytes undecided;

  public GuardedDecider(Engine engine, SystemLoad load, Ticker ticker) {
    this(engine, load, FailureMode.DENY, ticker);
  }

  /**
   * Makes a decider that uses an engine.
   *
   * @param withoutRules the answer before the first rules; only ALLOW lets requests pass
   */
  public GuardedDecider(Engine engine, SystemLoad load, FailureMode withoutRules, Ticker ticker) {
    this(engine, load, withoutRules, ticker, null, null, null, new UndecidedBytes(Long.MAX_VALUE));
  }

  /**
   * Makes a decider that uses an engine, and records its requests.
   *
   * @param traffic records every request that rules decide, or that is refused because the server
   *     is overloaded; null to record nothing
   * @param refusals logs refused requests; null to log none
   * @param upstream decides instead of the engine; null if the engine decides
   * @param undecided counts the requests that wait for their decision
   */
  public GuardedDecider(
      Engine engine,
      SystemLoad load,
      FailureMode withoutRules,
      Ticker ticker,
      @Nullable RecordedTraffic traffic,
      @Nullable RefusalLog refusals,
      @Nullable Decider upstream,
      UndecidedBytes undecided) {
    this.engine = engine;
    this.load = load;
    this.ticker = ticker;
    this.traffic = traffic;
    this.refusals = refusals;
    this.upstream = upstream;
    this.undecided = undecided;
    passWithoutRules = withoutRules == FailureMode.ALLOW;
  }

  /** Returns whether no rules are in force yet, not even an empty set. */
  private boolean withoutRules() {
    return upstream == null && engine.revision() == 0;
  }

  private Answer uncertain(Request request) {
    return unknown(request, Reason.UNCERTAIN);
  }

  private Answer unknown(Request request, Reason reason) {
    Decision decision =
        new Decision(
            passWithoutRules,
            reason,
            "",
            0,
            0,
            passWithoutRules ? 0 : RETRY_NANOS,
            0,
            ticker.nanos());
    Status status = new Status(passWithoutRules, null, decision, null, 0, 0);
    int descriptors = Math.max(1, request.descriptors().size());
    return Answer.of(passWithoutRules, Collections.nCopies(descriptors, status), null, 0);
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
    Consumer<? super List<Answer>> done = refusals == null ? last : telling(requests, last);
    if (withoutRules()) {
      done.accept(requests.stream().map(this::uncertain).toList());
      return;
    }
    long now = ticker.nanos();
    if (traffic != null) {
      for (int i = 0; i < requests.size(); i++) {
        traffic.add(requests.get(i), now);
      }
    }
    if (overloaded(now, requests.size())) {
      List<Answer> answers = new ArrayList<>(requests.size());
      requests.forEach(request -> refuse(request, answers::add));
      done.accept(answers);
      return;
    }
    UndecidedBytes.PendingDecision<List<Answer>> waiting = undecided.until(done);
    if (upstream != null) {
      Collected<Answer> answers = new Collected<>(requests.size(), waiting);
      for (int i = 0; i < requests.size(); i++) {
        int index = i;
        upstream.decide(requests.get(i), answer -> answers.put(index, answer));
      }
    } else {
      engine.decideAll(requests, load.counting(requests.size(), waiting));
    }
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + memoryBytes(requests));
    }
  }

  private Consumer<List<Answer>> telling(
      List<Request> requests, Consumer<? super List<Answer>> last) {
    return answers -> {
      for (int i = 0; refusals != null && i < answers.size(); i++) {
        refusals.refused(requests.get(i), answers.get(i));
      }
      last.accept(answers);
    };
  }

  private void refuse(Request request, Consumer<? super Answer> done) {
    if (upstream == null) {
      engine.refuse(request, done);
    } else {
      done.accept(unknown(request, Reason.OVERLOADED));
    }
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
        answers -> done.accept(batch.results(answers, revision(answers))));
  }

  private long revision(List<Answer> answers) {
    return upstream == null
        ? engine.revision()
        : answers.stream().mapToLong(Answer::revision).max().orElse(0);
  }

  /**
   * Takes back what a call gives back, and then decides its requests and lends permits.
   *
   * @param beside returns the approximate bytes that the transport keeps of the call until it is
   *     answered, besides the requests
   */
  public void lend(LeaseCall call, LongSupplier beside, Consumer<? super LeaseCall.Results> done) {
    long now = ticker.nanos();
    UndecidedBytes.PendingDecision<LeaseCall.Results> waiting = undecided.until(done);
    if (!withoutRules() && overloaded(now, call.asks().size())) {
      List<Grant> grants = new ArrayList<>(call.asks().size());
      for (LeaseAsk ask : call.asks()) {
        refuse(ask.request(), answer -> grants.add(Grant.nothing(answer)));
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
    for (LeaseAsk ask : call.asks()) {
      bytes += ask.request().memoryBytes();
    }
    return bytes;
  }

  private LeaseCall.Results results(LeaseCall call, List<Grant> grants, long takenBack) {
    return call.results(grants, revision(grants.stream().map(Grant::answer).toList()), takenBack);
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
    int size = call.asks().size();
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
      ask(
          call.asks().get(i),
          grant -> {
            grants.set(index, grant);
            all.add(0);
          });
    }
    all.add(0);
  }

  private void ask(LeaseAsk ask, Consumer<? super Grant> done) {
    if (withoutRules()) {
      done.accept(Grant.nothing(uncertain(ask.request())));
      return;
    }
    if (traffic != null) {
      traffic.add(ask.request(), ticker.nanos());
    }
    if (upstream != null) {
      upstream.decide(ask.request(), answer -> done.accept(Grant.nothing(answer)));
      return;
    }
    engine.leases().ask(ask, load.counting(1, done));
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
    Consumer<? super Answer> done = refusals == null ? last : refusals.before(last, request, true);
    if (withoutRules()) {
      done.accept(uncertain(request));
      return;
    }
    long now = ticker.nanos();
    if (traffic != null) {
      traffic.add(request, now);
    }
    if (overloaded(now, 1)) {
      refuse(request, done);
      return;
    }
    UndecidedBytes.PendingDecision<Answer> waiting = undecided.until(done);
    if (upstream != null) {
      upstream.decide(request, waiting);
    } else {
      engine.decide(request, load.counting(1, waiting));
    }
    if (!waiting.isAnswered()) {
      waiting.count(beside.getAsLong() + request.memoryBytes());
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
    return upstream == null
        && traffic == null
        && refusals == null
        && !load.countsRequests()
        && !withoutRules()
        && !LoopLag.here().overloaded(nowNanos, 0)
        && batch.add(domain, keysAndValues, count, permits);
  }

  /** Decides the requests of a batch, which {@link #add} has added. */
  public void decide(RequestBatch batch) {
    LoopLag.here().asked(batch.size()); // Not earlier: the caller may use another method.
    batch.decide();
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    if (withoutRules()) {
      done.accept(uncertain(request));
    } else if (upstream != null) {
      upstream.peek(request, done);
    } else {
      engine.peek(request, done);
    }
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    (upstream == null ? engine : upstream).refund(request, answer, done);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return (upstream == null ? engine : upstream)
        .enqueue(
            request,
            refused,
            maxWaitNanos,
            refusals == null ? done : refusals.before(done, request, false));
  }
}
