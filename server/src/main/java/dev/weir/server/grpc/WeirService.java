package dev.weir.server.grpc;

import dev.weir.http.BadRequest;
import dev.weir.server.door.GuardedDecider;
import dev.weir.server.proto.v1.WeirGrpc;
import dev.weir.server.proto.v1.WeirProto.CheckBatchRequest;
import dev.weir.server.proto.v1.WeirProto.CheckBatchResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/** Weir's own service for gateways. Answers on the thread that the engine answers on. */
public final class WeirService extends WeirGrpc.WeirImplBase {
  private final GuardedDecider decider;

  public WeirService(GuardedDecider decider) {
    this.decider = decider;
  }

  @Override
  public void checkBatch(CheckBatchRequest message, StreamObserver<CheckBatchResponse> observer) {
    try {
      decider.decideAll(
          WeirMessages.batch(message),
          GrpcReply.to(
              observer,
              results -> {
                observer.onNext(WeirMessages.response(results));
                observer.onCompleted();
              }));
    } catch (BadRequest e) {
      observer.onError(refusal(e));
    }
  }

  @Override
  public StreamObserver<CheckBatchRequest> checkStream(
      StreamObserver<CheckBatchResponse> observer) {
    return CheckStream.begin(decider, (ServerCallStreamObserver<CheckBatchResponse>) observer);
  }

  static StatusRuntimeException refusal(BadRequest e) {
    return Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException();
  }
}
