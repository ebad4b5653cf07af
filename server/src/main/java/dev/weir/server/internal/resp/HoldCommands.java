package dev.weir.server.internal.resp;

import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The commands {@code WEIR.HOLD} and {@code WEIR.SETTLE}: holds for Redis clients, with the meaning
 * of {@code /v1/hold} and {@code /v1/settle}. Confined to one event loop.
 */
final class HoldCommands {
  static final String HOLD_ARGUMENTS = "<domain> <permits> <entry key> <entry value> [...]";
  static final String SETTLE_ARGUMENTS = "<hold> <permits>";

  /** The number of elements that the reply has beyond that to {@code WEIR.CHECK}. */
  private static final int MORE = 1;

  private static final long MOST_COST = (1L << 53) - 1;

  private final GuardedDecider decider;
  private final RespWriter out;

  HoldCommands(GuardedDecider decider, RespWriter out) {
    this.decider = decider;
    this.out = out;
  }

  void hold(RespArguments command, Consumer<Runnable> later) throws BadRequest {
    Request request = command.request();
    decider.hold(request, () -> 0, held -> later.accept(() -> reply(held)));
  }

  private void reply(HoldAnswer held) {
    String error = held.answer().error();
    if (error != null) {
      out.error("ERR " + error);
      return;
    }
    CheckCalls.reply(held.answer(), MORE, out);
    out.bulk(held.hold());
  }

  void settle(RespArguments command, Consumer<Runnable> later) throws BadRequest {
    List<Long> costs = new ArrayList<>();
    costs.add(command.number(2, "permits", 0, MOST_COST));
    decider.settle(
        command.utf8(1, "hold"), costs, () -> 0, done -> later.accept(() -> reply(done)));
  }

  private void reply(Settlement done) {
    if (done.outcome() == Settlement.Outcome.UNCERTAIN) {
      out.error("UNCERTAIN whether the hold was settled before (expected: the same command again)");
      return;
    }
    out.array(3).bulk(done.outcome().name()).integer(done.returned()).integer(done.charged());
  }
}
