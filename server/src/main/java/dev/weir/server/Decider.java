package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What the doors ask: the engine, unless their event loop is so far behind that whoever asks has
 * waited too long and should not be charged for it. Safe for use by many threads.
 */
final class Decider {
  private final Engine engine;
  private final Load load;
  private final Ticker ticker;

  Decider(Engine engine, Load load, Ticker ticker) {
    this.engine = engine;
    this.load = load;
    this.ticker = ticker;
  }

  Engine engine() {
    return engine;
  }

  Load load() {
    return load;
  }

  /** As {@link Engine#decideAll(List, Consumer)}. */
  void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
    if (LoopLag.here().overloaded(ticker.nanos(), requests.size())) {
      List<Answer> answers = new ArrayList<>(requests.size());
      requests.forEach(request -> engine.refuse(request, answers::add));
      done.accept(answers);
    } else {
      engine.decideAll(requests, load.counting(requests.size(), done));
    }
  }

  /** As {@link Engine#decide(Request, Consumer)}. */
  void decide(Request request, Consumer<? super Answer> done) {
    if (LoopLag.here().overloaded(ticker.nanos(), 1)) {
      engine.refuse(request, done);
    } else {
      engine.decide(request, load.counting(1, done));
    }
  }
}
