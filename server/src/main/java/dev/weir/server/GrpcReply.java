package dev.weir.server;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;
import java.util.logging.Level;

/** Sends gRPC answers, on whatever thread the store gives them. */
final class GrpcReply {
  private GrpcReply() {}

  /** Answers a call whose only response that is. */
  static <T> void send(StreamObserver<T> call, Supplier<T> response) {
    T message;
    try {
      message = response.get();
    } catch (RuntimeException e) {
      call.onError(failed(e));
      return;
    }
    call.onNext(message);
    call.onCompleted();
  }

  /** Returns what ends a call when the server has failed, which is a bug. */
  static StatusRuntimeException failed(RuntimeException failure) {
    Logs.LOG.log(Level.SEVERE, "grpc: a call failed", failure);
    return Status.INTERNAL
        .withDescription("The server failed; its log says how.")
        .asRuntimeException();
  }
}
