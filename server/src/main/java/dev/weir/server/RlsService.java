package dev.weir.server;

import dev.weir.engine.Answer;
import dev.weir.server.proto.RateLimitRequest;
import dev.weir.server.proto.RateLimitResponse;
import dev.weir.server.proto.RateLimitServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/** The rate limit service as Envoy calls it. Answers on the thread that the engine answers on. */
final class RlsService extends RateLimitServiceGrpc.RateLimitServiceImplBase {
  private final Decider decider;
  private final RlsMessages messages;

  RlsService(Decider decider, RlsMessages messages) {
    this.decider = decider;
    this.messages = messages;
  }

  @Override
  public void shouldRateLimit(
      RateLimitRequest message, StreamObserver<RateLimitResponse> observer) {
    try {
      decider.decide(
          messages.request(message), GrpcReply.to(observer, answer -> answer(answer, observer)));
    } catch (BadRequest e) {
      refuse(e.getMessage(), observer);
    }
  }

  private void answer(Answer answer, StreamObserver<RateLimitResponse> observer) {
    if (answer.error() != null) {
      refuse(answer.error(), observer);
    } else {
      observer.onNext(messages.response(answer));
      observer.onCompleted();
    }
  }

  /** Code UNKNOWN for every trouble is what Envoy has always been told. */
  private static void refuse(@Nullable String text, StreamObserver<RateLimitResponse> observer) {
    observer.onError(Status.UNKNOWN.withDescription(text).asRuntimeException());
  }
}
