package dev.weir.server.internal.grpc;

import dev.weir.engine.Answer;
import dev.weir.engine.Ticket;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.server.internal.settings.ServerSettings;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.trace.Span;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The rate limit service that Envoy calls. It answers on the thread on which the engine answers.
 */
public final class RlsService extends RateLimitServiceGrpc.RateLimitServiceImplBase {
  private static final String SPAN =
      RateLimitServiceGrpc.getShouldRateLimitMethod().getFullMethodName();

  /** Time for an answer to reach its client before the client gives up. */
  private static final long ANSWER_NANOS = 2_000_000L;

  private final GuardedDecider decider;
  private final RlsMessages messages;
  private final RequestTimes times;
  private final Tracing tracing;
  private final boolean more;

  public RlsService(
      GuardedDecider decider, ServerSettings settings, RequestTimes times, Tracing tracing) {
    this.decider = decider;
    this.messages = new RlsMessages(settings);
    this.more = RlsMessages.haveMore(settings);
    this.times = times;
    this.tracing = tracing;
  }

  /**
   * Returns the quick path for usual calls on one event loop; null if the settings require more for
   * each answer.
   */
  @Nullable QuickRls quick(int maxBodyBytes) {
    return tracing.isOn() || more ? null : new QuickRls(decider, times, maxBodyBytes);
  }

  @Override
  public void shouldRateLimit(
      RateLimitRequest message, StreamObserver<RateLimitResponse> observer) {
    long begunNanos = times.begin();
    try {
      Request request = messages.request(message);
      Context call = Context.current();
      Span span = tracing.begin(SPAN, TraceContexts.parent());
      Consumer<Answer> last =
          answer -> {
            Tracing.end(span, request, answer);
            answer(request, answer, begunNanos, observer);
          };
      decider.decide(
          request,
          () -> UndecidedBytes.CALL_BYTES,
          GrpcReply.to(observer, answer -> answer(request, answer, call, last, observer)));
    } catch (BadRequest e) {
      refuse(e.getMessage(), observer);
    }
  }

  /**
   * Answers a request. A refused request waits for its turn first if the rules have a queue for it,
   * until its deadline or until its client goes away.
   */
  private void answer(
      Request request,
      Answer answer,
      Context call,
      Consumer<Answer> last,
      StreamObserver<RateLimitResponse> observer) {
    if (answer.maxWaitNanos() == 0) {
      last.accept(answer);
      return;
    }
    Deadline deadline = call.getDeadline();
    long most =
        deadline == null
            ? Long.MAX_VALUE
            : deadline.timeRemaining(TimeUnit.NANOSECONDS) - ANSWER_NANOS;
    Ticket ticket =
        decider.enqueue(request, answer, Math.max(0, most), GrpcReply.to(observer, last));
    call.addListener(gone -> leave(ticket), Runnable::run);
  }

  private static void leave(Ticket ticket) {
    boolean unused = ticket.leave();
  }

  private void answer(
      Request request, Answer answer, long begunNanos, StreamObserver<RateLimitResponse> observer) {
    times.ended(begunNanos, 1);
    if (answer.error() != null) {
      refuse(answer.error(), observer);
    } else {
      observer.onNext(messages.response(request, answer));
      observer.onCompleted();
    }
  }

  /** Sends an error. Envoy's own service answers every error with code UNKNOWN. */
  private static void refuse(@Nullable String text, StreamObserver<RateLimitResponse> observer) {
    observer.onError(Status.UNKNOWN.withDescription(text).asRuntimeException());
  }
}
