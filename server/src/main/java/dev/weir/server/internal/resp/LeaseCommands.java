package dev.weir.server.internal.resp;

import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.engine.Answer;
import dev.weir.engine.Grant;
import dev.weir.engine.Loan;
import dev.weir.internal.Choice;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.LeaseAnswer;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.protocol.http.LeaseNumber;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The commands {@code WEIR.LEASE} and {@code WEIR.RETURN}: leases for Redis clients, with the
 * meaning of {@code /v1/lease}. Confined to one event loop.
 */
final class LeaseCommands {
  static final String LEASE_ARGUMENTS =
      "<domain> <permits> <ahead> <entry key> <entry value> [...]";
  static final String RETURN_ARGUMENTS = "<lease> <permits> [<lease> <permits> ...]";

  private final GuardedDecider decider;
  private final RespWriter out;

  /** The writer of the reply to {@code WEIR.CHECK} without the length of the array. */
  interface Check {
    void write(Answer answer);
  }

  private final Check check;

  LeaseCommands(GuardedDecider decider, RespWriter out, Check check) {
    this.decider = decider;
    this.out = out;
    this.check = check;
  }

  /**
   * The number of elements that the reply to {@code WEIR.LEASE} has beyond that to {@code
   * WEIR.CHECK}.
   */
  static final int MORE = 6;

  void lease(RespArguments command, Consumer<Runnable> later) throws BadRequest {
    int count = command.count();
    long permits = command.number(2, "permits", 0, Quota.MAX_PERMITS);
    long ahead = command.number(3, "ahead", 0, Quota.MAX_PERMITS);
    List<Entry> entries = new ArrayList<>((count - 4) / 2);
    for (int i = 4; i < count; i += 2) {
      entries.add(new Entry(command.utf8(i, "entry key"), command.utf8(i + 1, "entry value")));
    }
    Descriptor descriptor = new Descriptor(entries, null, permits);
    LeaseCall call = new LeaseCall();
    Request request = new Request(command.utf8(1, "domain"), List.of(descriptor), 1);
    call.add(0, request, List.of(ahead), false);
    decider.lend(call, () -> 0, results -> later.accept(() -> reply(results.results().get(0))));
  }

  private void reply(LeaseCall.Result result) {
    Grant grant = result.grant();
    if (grant == null) {
      out.error("ERR " + result.error());
      return;
    }
    check.write(grant.answer());
    Loan loan = grant.loans().get(0);
    boolean lent = loan.lease() != 0;
    Sharing sharing = loan.sharing();
    out.bulk(lent ? LeaseNumber.text(loan.lease()) : "")
        .integer(loan.permits())
        .integer(lent ? LeaseAnswer.lifeMicros(loan) : 0)
        .integer(LeaseAnswer.refuseForMillis(loan))
        .bulk(sharing == null ? "" : Choice.text(sharing.onFailure()))
        .integer(loan.leased() ? 1 : 0);
  }

  void giveBack(RespArguments command, Consumer<Runnable> later) throws BadRequest {
    LeaseCall call = new LeaseCall();
    for (int i = 1; i < command.count(); i += 2) {
      String lease = command.text(i);
      if (!LeaseNumber.matches(lease)) {
        throw new BadRequest(
            "lease: " + command.shown(i) + " (expected: 16 hexadecimal digits, of WEIR.LEASE)");
      }
      call.addReturn(
          LeaseNumber.of(lease), command.number(i + 1, "permits", 0, Long.MAX_VALUE >> 4));
    }
    decider.lend(call, () -> 0, results -> later.accept(() -> out.integer(results.takenBack())));
  }
}
