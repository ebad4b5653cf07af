package dev.weir.server.internal.deciding;

import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.Grant;
import dev.weir.engine.LoanRequest;
import dev.weir.engine.Ticket;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import dev.weir.server.internal.guard.SystemLoad;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** The server's own engine, whose undecided requests may be the load. */
record EngineDecisions(Engine engine, SystemLoad load) implements DecisionSource {
  @Override
  public boolean decides() {
    return engine.revision() != 0;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    engine.decide(request, load.counting(1, done));
  }

  @Override
  public void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
    engine.decideAll(requests, load.counting(requests.size(), done));
  }

  @Override
  public void refuse(Request request, Consumer<? super Answer> done) {
    engine.refuse(request, done);
  }

  @Override
  public void request(LoanRequest ask, Consumer<? super Grant> done) {
    engine.leases().decide(ask, load.counting(1, done));
  }

  @Override
  public void hold(Request request, Consumer<? super HoldAnswer> done) {
    engine.holds().hold(request, load.counting(1, done));
  }

  @Override
  public void settle(String hold, List<Long> costs, Consumer<? super Settlement> done) {
    engine.holds().settle(hold, costs, done);
  }

  @Override
  public void acquire(Request request, Consumer<? super SeatAnswer> done) {
    engine.seats().acquire(request, load.counting(1, done));
  }

  @Override
  public TakenSeat seatOf(String text) {
    return engine.seats().read(text);
  }

  @Override
  public long revision(List<Answer> answers) {
    return engine.revision();
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
