package dev.weir.server.internal.grpc;

import dev.weir.server.internal.log.Logs;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.logging.Level;

/** The sender of gRPC answers, on any thread on which the store gives them. */
final class GrpcReply {
  /** The status for a client whose call failed here. */
  static final Status FAILED =
      Status.INTERNAL.withDescription("The server failed; its log has the details.");

  private GrpcReply() {}

  /**
   * Returns a consumer that passes values on and never throws on a thread of the store. An answer
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
