package dev.weir.server.internal.grpc;

import dev.weir.server.internal.log.Logs;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.logging.Level;

/** Sends gRPC answers, on whatever thread the store gives them. */
final class GrpcReply {
  /** What a client is answered whose call failed here. */
  static final Status FAILED =
      Status.INTERNAL.withDescription("The server failed; its log has the details.");

  private GrpcReply() {}

  /**
   * Returns a consumer that does the same and never throws on a thread of the store. An answer
   * after the port's threads have ended is dropped.
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
