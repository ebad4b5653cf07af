package dev.weir.server;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.logging.Level;

/** Sends gRPC answers, on whatever thread the store gives them. */
final class GrpcReply {
  private static final Status FAILED =
      Status.INTERNAL.withDescription("The server failed; its log says how.");

  private GrpcReply() {}

  /**
   * Returns what does the same and troubles no thread of the store's with a failure. What is
   * answered when the door's threads have ended is for nobody.
   */
  static <T> Consumer<T> to(StreamObserver<?> call, Consumer<? super T> reply) {
    return answer -> {
      try {
        reply.accept(answer);
      } catch (RejectedExecutionException e) {
        Logs.LOG.log(Level.FINE, "grpc: an answer came too late", e);
      } catch (RuntimeException e) {
        Logs.LOG.log(Level.SEVERE, "grpc: a call failed", e);
        call.onError(FAILED.asRuntimeException());
      }
    };
  }
}
