package dev.weir.server.internal.deciding;

import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Grant;
import dev.weir.engine.LoanRequest;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import java.util.List;
import java.util.function.Consumer;

/** The source of decisions behind the guards: the server's own engine, or the server upstream. */
interface DecisionSource extends Decider {
  /** Returns whether rules are in force, even if it is an empty set. */
  boolean decides();

  /** Decides many requests in one call. */
  void decideAll(List<Request> requests, Consumer<? super List<Answer>> done);

  /** Refuses a request without a decision, because the server is overloaded. */
  void refuse(Request request, Consumer<? super Answer> done);

  /** Decides a request and lends permits. */
  void request(LoanRequest ask, Consumer<? super Grant> done);

  /** Decides a request, and holds the most that it may cost. */
  void hold(Request request, Consumer<? super HoldAnswer> done);

  /**
   * Settles a hold.
   *
   * @throws IllegalArgumentException if it is none, or the costs do not fit it
   */
  void settle(String hold, List<Long> costs, Consumer<? super Settlement> done);

  /** Decides a request, and returns the seats that it has taken. */
  void acquire(Request request, Consumer<? super SeatAnswer> done);

  /**
   * Returns the seat of a text.
   *
   * @throws IllegalArgumentException if it is none
   */
  TakenSeat seatOf(String text);

  /** Returns the revision of the rules that gave these answers. */
  long revision(List<Answer> answers);
}
