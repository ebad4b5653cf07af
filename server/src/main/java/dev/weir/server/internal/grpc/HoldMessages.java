package dev.weir.server.internal.grpc;

import dev.weir.engine.Answer;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.HoldResponse;
import dev.weir.protocol.v1.WeirProto.SettleOutcome;
import dev.weir.protocol.v1.WeirProto.SettleRequest;
import dev.weir.protocol.v1.WeirProto.SettleResponse;
import dev.weir.rules.Request;
import java.util.List;

/** The translation of the messages about holds; it decides nothing. */
final class HoldMessages {
  private HoldMessages() {}

  static HoldResponse response(Request request, HoldAnswer held) {
    Answer answer = held.answer();
    CheckResult.Builder result =
        answer.error() == null
            ? WeirMessages.result(request, answer)
            : CheckResult.newBuilder().setError(answer.error());
    return HoldResponse.newBuilder()
        .setRevision(answer.revision())
        .setResult(result)
        .setHold(held.hold())
        .build();
  }

  /** Returns the costs; a number beyond 2^63 is the largest one. */
  static List<Long> costs(SettleRequest message) {
    return message.getPermitsList().stream().map(each -> each < 0 ? Long.MAX_VALUE : each).toList();
  }

  static SettleResponse response(Settlement settlement) {
    return SettleResponse.newBuilder()
        .setOutcome(
            switch (settlement.outcome()) {
              case SETTLED -> SettleOutcome.SETTLE_OUTCOME_SETTLED;
              case SETTLED_BEFORE -> SettleOutcome.SETTLE_OUTCOME_SETTLED_BEFORE;
              case LATE -> SettleOutcome.SETTLE_OUTCOME_LATE;
              case UNCERTAIN -> SettleOutcome.SETTLE_OUTCOME_UNCERTAIN;
            })
        .setReturned(settlement.returned())
        .setCharged(settlement.charged())
        .build();
  }
}
