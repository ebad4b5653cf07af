package dev.weir.server.door;

import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.http.CheckBatch;
import dev.weir.replay.RecordedTraffic;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides the requests of all protocols: by the engine, unless their event loop is so far behind
 * that the client has waited too long and should not be charged. Before the first rules are in
 * force nothing can be decided: every request is answered UNCERTAIN. Safe for use by many threads.
 */
public final class GuardedDecider implements Decider {
  /** As long as clients wait that meet a store which does not answer. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  private final Engine engine;
  private final SystemLoad load;
  private final Ticker ticker;
  private final boolean passWithoutRules;
  private final @Nullable RecordedTraffic traffic;

  public GuardedDecider(Engine engine, SystemLoad load, Ticker ticker) {
    this(engine, load, FailureMode.DENY, ticker);
  }

  /**
   * Decides by an engine.
   *
   * @param withoutRules what is answered before the first rules; only ALLOW lets requests pass
   */
  public GuardedDecider(Engine engine, SystemLoad load, FailureMode withoutRules, Ticker ticker) {
    this(engine, load, withoutRules, ticker, null);
  }

  /**
   * Decides by an engine, and records what it is asked.
   *
   * @param traffic records every request that rules decide, or refuse because there is no time;
   *     null to record nothing
   */
  public GuardedDecider(
      Engine engine,
      SystemLoad load,
      FailureMode withoutRules,
      Ticker ticker,
      @Nullable RecordedTraffic traffic) {
    this.engine = engine;
    this.load = load;
    this.ticker = ticker;
    this.traffic = traffic;
    passWithoutRules = withoutRules == FailureMode.ALLOW;
  }

  /** Returns whether no rules are in force yet, not even an empty set. */
  private boolean withoutRules() {
    return engine.revision() == 0;
  }

  private Answer uncertain(Request request) {
    Decision decision =
        new Decision(
            passWithoutRules,
            Reason.UNCERTAIN,
            "",
            0,
            0,
            passWithoutRules ? 0 : RETRY_NANOS,
            0,
            ticker.nanos());
    Status status = new Status(passWithoutRules, null, decision, null, 0, 0);
    int descriptors = Math.max(1, request.descriptors().size());
    return new Answer(passWithoutRules, Collections.nCopies(descriptors, status), null, 0);
  }

  public Engine engine() {
    return engine;
  }

  public SystemLoad load() {
    return load;
  }

  /**
   * As {@link Engine#decideAll(List, Consumer)}. Requests of a batch do not wait for their turn.
   */
  public void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
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
    if (LoopLag.here().overloaded(now, requests.size())) {
      List<Answer> answers = new ArrayList<>(requests.size());
      requests.forEach(request -> engine.refuse(request, answers::add));
      done.accept(answers);
    } else {
      engine.decideAll(requests, load.counting(requests.size(), done));
    }
  }

  /** Decides the checks of one call. */
  public void decideAll(CheckBatch batch, Consumer<? super CheckBatch.Results> done) {
    decideAll(batch.requests(), answers -> done.accept(batch.results(answers, engine.revision())));
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    if (withoutRules()) {
      done.accept(uncertain(request));
      return;
    }
    long now = ticker.nanos();
    if (traffic != null) {
      traffic.add(request, now);
    }
    if (LoopLag.here().overloaded(now, 1)) {
      engine.refuse(request, done);
    } else {
      engine.decide(request, load.counting(1, done));
    }
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    if (withoutRules()) {
      done.accept(uncertain(request));
    } else {
      engine.peek(request, done);
    }
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    engine.refund(request, answer, done);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return engine.enqueue(request, refused, maxWaitNanos, done);
  }
}
