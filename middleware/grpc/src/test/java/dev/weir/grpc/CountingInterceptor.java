package dev.weir.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/** An interceptor that counts the calls that reach a server. */
final class CountingInterceptor implements ServerInterceptor {
  private int calls;

  synchronized int calls() {
    return calls;
  }

  @Override
  public synchronized <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
    calls++;
    return next.startCall(call, headers);
  }
}
