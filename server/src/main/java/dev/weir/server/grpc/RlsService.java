package dev.weir.server.grpc;

import dev.weir.engine.Answer;
import dev.weir.engine.Ticket;
import dev.weir.http.BadRequest;
import dev.weir.rules.Request;
import dev.weir.server.door.GuardedDecider;
import dev.weir.server.door.RlsMessages;
import dev.weir.server.proto.RateLimitRequest;
import dev.weir.server.proto.RateLimitResponse;
import dev.weir.server.proto.RateLimitServiceGrpc;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The rate limit service as Envoy calls it. Answers on the thread that the engine answers on. */
public final class RlsService extends RateLimitServiceGrpc.RateLimitServiceImplBase {
  /** Time for an answer to reach its client before the client gives up. */
  private static final long ANSWER_NANOS = 2_000_000L;

  private final GuardedDecider decider;
  private final RlsMessages messages;

  public RlsService(GuardedDecider decider, RlsMessages messages) {
    this.decider = decider;
    this.messages = messages;
  }

  @Override
  public void shouldRateLimit(
      RateLimitRequest message, StreamObserver<RateLimitResponse> observer) {
    try {
      Request request = messages.request(message);
      Context call = Context.current();
      decider.decide(
          request, GrpcReply.to(observer, answer -> answer(request, answer, call, observer)));
    } catch (BadRequest e) {
      refuse(e.getMessage(), observer);
    }
  }

  /**
   * Answers; a refused request waits for its turn first if the rules say so, until its deadline or
   * until its client goes away.
   */
  private void answer(
      Request request, Answer answer, Context call, StreamObserver<RateLimitResponse> observer) {
    if (answer.maxWaitNanos() == 0) {
      answer(answer, observer);
      return;
    }
    Deadline deadline = call.getDeadline();
    long most =
        deadline == null
            ? Long.MAX_VALUE
            : deadline.timeRemaining(TimeUnit.NANOSECONDS) - ANSWER_NANOS;
    Ticket ticket =
        decider.enqueue(
            request,
            answer,
            Math.max(0, most),
            GrpcReply.to(observer, later -> answer(later, observer)));
    call.addListener(gone -> leave(ticket), Runnable::run);
  }

  private static void leave(Ticket ticket) {
    boolean unused = ticket.leave();
  }

  private void answer(Answer answer, StreamObserver<RateLimitResponse> observer) {
    if (answer.error() != null) {
      refuse(answer.error(), observer);
    } else {
      observer.onNext(messages.response(answer));
      observer.onCompleted();
    }
  }

  /** Envoy's own service answers every error with code UNKNOWN. */
  private static void refuse(@Nullable String text, StreamObserver<RateLimitResponse> observer) {
    observer.onError(Status.UNKNOWN.withDescription(text).asRuntimeException());
  }
}
