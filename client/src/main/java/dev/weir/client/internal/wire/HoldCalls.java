package dev.weir.client.internal.wire;

import dev.weir.FailureMode;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.HoldRequest;
import dev.weir.protocol.v1.WeirProto.HoldResponse;
import dev.weir.protocol.v1.WeirProto.SettleRequest;
import dev.weir.protocol.v1.WeirProto.SettleResponse;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The calls about holds, of one service after the other until one answers. Safe for use by many
 * threads.
 */
public final class HoldCalls {
  /*
   * May a call be sent to another service, although the first one may have carried it out? A hold
   * that nobody settles can only refuse, and of two settlements of one hold the first counts. So
   * both calls may be repeated, unlike those of Service.
   */

  /** The time for a settlement at each service. Nobody waits for it, and it is worth an effort. */
  private static final long SETTLE_NANOS = 2_000_000_000L;

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
  public HoldCalls(
      List<ManagedChannel> channels, Clocks clocks, long deadlineNanos, FailureMode onFailure) {
    this.calls = new FailoverCalls(channels);
    this.clocks = clocks;
    this.deadlineNanos = deadlineNanos;
    this.allowsAway = onFailure == FailureMode.ALLOW;
  }

  /** Decides a request, and holds its permits. Never fails: an error is an answer. */
  public CompletionStage<HoldAnswer> hold(Request request) {
    String problem = Messages.problem(request);
    if (problem != null) {
      return CompletableFuture.completedStage(new HoldAnswer(Answer.error(problem, 0), ""));
    }
    HoldRequest message = HoldRequest.newBuilder().setCheck(Messages.check(request)).build();
    return calls
        .call(deadlineNanos, WeirGrpc.getHoldMethod(), message)
        .handle((response, error) -> answer(request, response, error));
  }

  private HoldAnswer answer(
      Request request, @Nullable HoldResponse response, @Nullable Throwable error) {
    if (response != null) {
      return new HoldAnswer(
          answers.of(response.getResult(), response.getRevision(), clocks.nanos()),
          response.getHold());
    }
    Status status = Status.fromThrowable(error);
    if (FailoverCalls.isFinal(status)) {
      return new HoldAnswer(Answer.error(String.valueOf(status.getDescription()), 0), "");
    }
    List<dev.weir.engine.Status> statuses =
        request.descriptors().stream()
            .map(each -> Answers.unknown(allowsAway, Reason.UNCERTAIN, null, clocks.nanos()))
            .toList();
    return new HoldAnswer(Answer.of(allowsAway, statuses, null, 0), "");
  }

  /**
   * Settles a hold. Fails with an {@link IllegalArgumentException} if it is none of the services',
   * or the costs do not fit it.
   */
  public CompletionStage<Settlement> settle(String hold, List<Long> costs) {
    SettleRequest message = SettleRequest.newBuilder().setHold(hold).addAllPermits(costs).build();
    return calls
        .call(SETTLE_NANOS, WeirGrpc.getSettleMethod(), message)
        .handle(
            (response, error) -> {
              if (response != null) {
                return new Settlement(
                    outcome(response), response.getReturned(), response.getCharged());
              }
              Status status = Status.fromThrowable(error);
              if (FailoverCalls.isFinal(status)) {
                throw new IllegalArgumentException(String.valueOf(status.getDescription()));
              }
              return new Settlement(Outcome.UNCERTAIN, 0, 0);
            });
  }

  private static Outcome outcome(SettleResponse response) {
    return switch (response.getOutcome()) {
      case SETTLE_OUTCOME_SETTLED -> Outcome.SETTLED;
      case SETTLE_OUTCOME_SETTLED_BEFORE -> Outcome.SETTLED_BEFORE;
      case SETTLE_OUTCOME_LATE -> Outcome.LATE;
      case SETTLE_OUTCOME_UNCERTAIN, SETTLE_OUTCOME_UNSPECIFIED, UNRECOGNIZED -> Outcome.UNCERTAIN;
    };
  }
}
