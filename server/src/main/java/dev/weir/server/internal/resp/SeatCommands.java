package dev.weir.server.internal.resp;

import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.SeatReader;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.SeatCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The commands {@code WEIR.ACQUIRE}, {@code WEIR.RENEW} and {@code WEIR.RELEASE}: seats for Redis
 * clients, with the meaning of {@code /v1/acquire} and its companions. Confined to one event loop.
 */
final class SeatCommands {
  static final String ACQUIRE_ARGUMENTS = "<domain> <permits> <entry key> <entry value> [...]";
  static final String SEAT_ARGUMENTS = "<seat> [<seat> ...]";

  /** The most arguments of a command about seats, its name included. */
  static final int MOST_ARGUMENTS = 1 + SeatReader.MOST_SEATS;

  /** The number of elements that the reply has beyond that to {@code WEIR.CHECK}. */
  private static final int MORE = 2;

  private static final long MILLI = 1_000_000L;

  private final GuardedDecider decider;
  private final RespWriter out;

  SeatCommands(GuardedDecider decider, RespWriter out) {
    this.decider = decider;
    this.out = out;
  }

  void acquire(RespArguments command, Consumer<Runnable> later) throws BadRequest {
    Request request = command.request();
    decider.acquire(request, () -> 0, taken -> later.accept(() -> reply(taken)));
  }

  private void reply(SeatAnswer taken) {
    String error = taken.answer().error();
    if (error != null) {
      out.error("ERR " + error);
      return;
    }
    CheckCalls.reply(taken.answer(), MORE, out);
    out.bulk(taken.seat()).integer(taken.holdNanos() / MILLI);
  }

  void call(SeatCall call, RespArguments command, Consumer<Runnable> later) throws BadRequest {
    List<String> seats = new ArrayList<>();
    for (int i = 1; i < command.count(); i++) {
      seats.add(command.utf8(i, "seat"));
    }
    decider.seats(call, seats, () -> 0, outcomes -> later.accept(() -> reply(outcomes)));
  }

  private void reply(List<SeatOutcome> outcomes) {
    out.array(outcomes.size());
    outcomes.forEach(outcome -> out.bulk(outcome.name()));
  }
}
