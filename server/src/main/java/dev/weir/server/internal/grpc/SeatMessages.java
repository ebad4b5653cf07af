package dev.weir.server.internal.grpc;

import dev.weir.engine.Answer;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.SeatReader;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.SeatOutcome;
import dev.weir.protocol.v1.WeirProto.SeatRequest;
import dev.weir.protocol.v1.WeirProto.SeatResponse;
import dev.weir.rules.Request;
import java.util.List;

/** The translation of the messages about seats; it decides nothing. */
final class SeatMessages {
  private static final long MILLI = 1_000_000L;

  private SeatMessages() {}

  static AcquireResponse response(Request request, SeatAnswer taken) {
    Answer answer = taken.answer();
    CheckResult.Builder result =
        answer.error() == null
            ? WeirMessages.result(request, answer)
            : CheckResult.newBuilder().setError(answer.error());
    return AcquireResponse.newBuilder()
        .setRevision(answer.revision())
        .setResult(result)
        .setSeat(taken.seat())
        .setHoldMs(taken.holdNanos() / MILLI)
        .build();
  }

  /**
   * Returns the seats of a call.
   *
   * @throws BadRequest if there are too many
   */
  static List<String> seats(SeatRequest message) throws BadRequest {
    if (message.getSeatCount() > SeatReader.MOST_SEATS) {
      throw new BadRequest(
          "seat: %d (expected: at most %d in one call)"
              .formatted(message.getSeatCount(), SeatReader.MOST_SEATS));
    }
    return message.getSeatList();
  }

  static SeatResponse response(List<dev.weir.engine.seats.SeatOutcome> outcomes) {
    SeatResponse.Builder response = SeatResponse.newBuilder();
    for (dev.weir.engine.seats.SeatOutcome outcome : outcomes) {
      response.addOutcome(
          switch (outcome) {
            case DONE -> SeatOutcome.SEAT_OUTCOME_DONE;
            case LOST -> SeatOutcome.SEAT_OUTCOME_LOST;
            case UNCERTAIN -> SeatOutcome.SEAT_OUTCOME_UNCERTAIN;
          });
    }
    return response.build();
  }
}
