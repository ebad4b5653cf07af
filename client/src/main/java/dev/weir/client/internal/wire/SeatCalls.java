package dev.weir.client.internal.wire;

import dev.weir.FailureMode;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.AcquireRequest;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.protocol.v1.WeirProto.SeatRequest;
import dev.weir.protocol.v1.WeirProto.SeatResponse;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The calls about seats, of one service after the other until one answers. Safe for use by many
 * threads.
 */
public final class SeatCalls {
  /*
   * May a call be sent to another service, although the first one may have carried it out? A seat
   * that nobody has a text of is lost after its hold, and can only refuse until then. A renewal may
   * be made twice. Of two returns the second finds no seat: so LOST after a first call that was not
   * answered may mean that it was given back.
   */

  /** The time for a renewal or a return at each service. */
  private static final long SEAT_NANOS = 2_000_000_000L;

  private static final long MILLI = 1_000_000L;

  private final FailoverCalls calls;
  private final Clocks clocks;
  private final long deadlineNanos;
  private final boolean allowsAway;
  private final Answers answers = new Answers();

  /**
   * Makes the calls.
   *
   * @param channels one for each service; this does not close them
   * @param onFailure the answer to a request that no service answers
   */
  public SeatCalls(
      List<ManagedChannel> channels, Clocks clocks, long deadlineNanos, FailureMode onFailure) {
    this.calls = new FailoverCalls(channels);
    this.clocks = clocks;
    this.deadlineNanos = deadlineNanos;
    this.allowsAway = onFailure == FailureMode.ALLOW;
  }

  /** Decides a request, and takes its seats. Never fails: an error is an answer. */
  public CompletionStage<SeatAnswer> acquire(Request request) {
    String problem = Messages.problem(request);
    if (problem != null) {
      return CompletableFuture.completedStage(new SeatAnswer(Answer.error(problem, 0), "", 0));
    }
    AcquireRequest message = AcquireRequest.newBuilder().setCheck(Messages.check(request)).build();
    return calls
        .call(deadlineNanos, WeirGrpc.getAcquireMethod(), message)
        .handle((response, error) -> answer(request, response, error));
  }

  private SeatAnswer answer(
      Request request, @Nullable AcquireResponse response, @Nullable Throwable error) {
    if (response != null) {
      return new SeatAnswer(
          answers.of(response.getResult(), response.getRevision(), clocks.nanos()),
          response.getSeat(),
          Math.max(0, response.getHoldMs()) * MILLI);
    }
    Status status = Status.fromThrowable(error);
    if (FailoverCalls.isFinal(status)) {
      return new SeatAnswer(Answer.error(String.valueOf(status.getDescription()), 0), "", 0);
    }
    List<dev.weir.engine.Status> statuses =
        request.descriptors().stream()
            .map(each -> Answers.unknown(allowsAway, Reason.UNCERTAIN, null, clocks.nanos()))
            .toList();
    return new SeatAnswer(Answer.of(allowsAway, statuses, null, 0), "", 0);
  }

  /** Renews seats; the outcomes are in their order. Never fails: no answer is uncertain. */
  public CompletionStage<List<SeatOutcome>> renew(List<String> seats) {
    return seats(WeirGrpc.getRenewMethod(), seats);
  }

  /** Gives seats back; the outcomes are in their order. Never fails: no answer is uncertain. */
  public CompletionStage<List<SeatOutcome>> release(List<String> seats) {
    return seats(WeirGrpc.getReleaseMethod(), seats);
  }

  private CompletionStage<List<SeatOutcome>> seats(
      MethodDescriptor<SeatRequest, SeatResponse> method, List<String> seats) {
    SeatRequest message = SeatRequest.newBuilder().addAllSeat(seats).build();
    return calls
        .call(SEAT_NANOS, method, message)
        .handle(
            (response, error) ->
                response == null || response.getOutcomeCount() != seats.size()
                    ? Collections.nCopies(seats.size(), SeatOutcome.UNCERTAIN)
                    : response.getOutcomeList().stream().map(SeatCalls::outcome).toList());
  }

  private static SeatOutcome outcome(dev.weir.protocol.v1.WeirProto.SeatOutcome outcome) {
    return switch (outcome) {
      case SEAT_OUTCOME_DONE -> SeatOutcome.DONE;
      case SEAT_OUTCOME_LOST -> SeatOutcome.LOST;
      case SEAT_OUTCOME_UNCERTAIN, SEAT_OUTCOME_UNSPECIFIED, UNRECOGNIZED -> SeatOutcome.UNCERTAIN;
    };
  }
}
