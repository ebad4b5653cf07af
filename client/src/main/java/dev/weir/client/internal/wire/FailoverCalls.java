package dev.weir.client.internal.wire;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Calls of one service after the other until one answers. Safe for use by many threads. */
final class FailoverCalls {
  private final List<ManagedChannel> channels;

  /**
   * Makes the calls.
   *
   * @param channels one for each service; this does not close them
   */
  FailoverCalls(List<ManagedChannel> channels) {
    this.channels = List.copyOf(channels);
  }

  /** Calls the services in their order until one answers. If none does, fails as the last one. */
  <Q, A> CompletionStage<A> call(long nanos, MethodDescriptor<Q, A> method, Q message) {
    return call(0, nanos, method, message);
  }

  /** Returns whether no other service would answer otherwise. */
  static boolean isFinal(Status status) {
    return switch (status.getCode()) {
      case INVALID_ARGUMENT, UNIMPLEMENTED, UNAUTHENTICATED, PERMISSION_DENIED -> true;
      default -> false;
    };
  }

  /**
   * Calls the services in their order until one answers. If none does, the error is that of the
   * last one.
   *
   * @param i the service to call first
   */
  private <Q, A> CompletionStage<A> call(
      int i, long nanos, MethodDescriptor<Q, A> method, Q message) {
    return send(channels.get(i), nanos, method, message)
        .handle(
            (answer, error) -> {
              boolean last = i + 1 == channels.size();
              boolean next = error != null && !last && !isFinal(Status.fromThrowable(error));
              if (next) {
                return call(i + 1, nanos, method, message);
              }
              return error == null
                  ? CompletableFuture.completedStage(answer)
                  : CompletableFuture.<A>failedStage(error);
            })
        .thenCompose(Function.identity());
  }

  private static <Q, A> CompletableFuture<A> send(
      ManagedChannel channel, long nanos, MethodDescriptor<Q, A> method, Q message) {
    CompletableFuture<A> answered = new CompletableFuture<>();
    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(nanos, TimeUnit.NANOSECONDS);
    ClientCalls.asyncUnaryCall(
        channel.newCall(method, options),
        message,
        new StreamObserver<A>() {
          @Override
          public void onNext(A answer) {
            answered.complete(answer);
          }

          @Override
          public void onError(Throwable error) {
            answered.completeExceptionally(error);
          }

          @Override
          public void onCompleted() {
            // The answer has come before.
          }
        });
    return answered;
  }
}
