package dev.weir.server.internal.deciding;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Grant;
import dev.weir.engine.LoanRequest;
import dev.weir.engine.Ticket;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** The server upstream, which decides in place of an engine without rules. */
record UpstreamDecisions(Decider upstream, UndecidedAnswers unknown) implements DecisionSource {
  private static final String NO_SEATS =
      "seat: not passed on to the server upstream (expected: a call of that server)";

  private static final String NO_HOLDS =
      "hold: not passed on to the server upstream (expected: a call of that server)";

  @Override
  public boolean decides() {
    return true;
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    upstream.decide(request, done);
  }

  @Override
  public void decideAll(List<Request> requests, Consumer<? super List<Answer>> done) {
    AnswerCollector<Answer> answers = new AnswerCollector<>(requests.size(), done);
    for (int i = 0; i < requests.size(); i++) {
      int index = i;
      upstream.decide(requests.get(i), answer -> answers.put(index, answer));
    }
  }

  @Override
  public void refuse(Request request, Consumer<? super Answer> done) {
    done.accept(unknown.overloaded(request));
  }

  @Override
  public void request(LoanRequest ask, Consumer<? super Grant> done) {
    upstream.decide(ask.request(), answer -> done.accept(Grant.nothing(answer)));
  }

  @Override
  public void hold(Request request, Consumer<? super HoldAnswer> done) {
    done.accept(new HoldAnswer(Answer.error(NO_HOLDS, 0), ""));
  }

  @Override
  public void settle(String hold, List<Long> costs, Consumer<? super Settlement> done) {
    throw new IllegalArgumentException(NO_HOLDS);
  }

  @Override
  public void acquire(Request request, Consumer<? super SeatAnswer> done) {
    done.accept(new SeatAnswer(Answer.error(NO_SEATS, 0), "", 0));
  }

  @Override
  public TakenSeat seatOf(String text) {
    throw new IllegalArgumentException(NO_SEATS);
  }

  @Override
  public long revision(List<Answer> answers) {
    return answers.stream().mapToLong(Answer::revision).max().orElse(0);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    upstream.peek(request, done);
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    upstream.refund(request, answer, done);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return upstream.enqueue(request, refused, maxWaitNanos, done);
  }
}
