package dev.weir.server.door;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.Ticket;
import dev.weir.http.CheckBatch;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Decides the requests of all protocols: by the engine, unless their event loop is so far behind
 * that the client has waited too long and should not be charged. Safe for use by many threads.
 */
public final class GuardedDecider implements Decider {
  private final Engine engine;
  private final SystemLoad load;
  private final Ticker ticker;

  public GuardedDecider(Engine engine, SystemLoad load, Ticker ticker) {
    this.engine = engine;
    this.load = load;
    this.ticker = ticker;
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
    if (LoopLag.here().overloaded(ticker.nanos(), requests.size())) {
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
    if (LoopLag.here().overloaded(ticker.nanos(), 1)) {
      engine.refuse(request, done);
    } else {
      engine.decide(request, load.counting(1, done));
    }
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    engine.peek(request, done);
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
