package dev.weir.server.internal.grpc;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;

/**
 * The refusal of service names that are too long for the health service: health needs no token, and
 * a name is kept for as long as a client watches it.
 */
final class HealthNames implements ServerInterceptor {
  /** The longest name; names of services have some dozens of characters. */
  static final int MAX_LENGTH = 256;

  /**
   * The largest message: a name of that length takes at most three bytes per character, plus a few
   * for the message.
   */
  static final int MAX_MESSAGE_BYTES = 1_024;

  @Override
  public <A, B> ServerCall.Listener<A> interceptCall(
      ServerCall<A, B> call, Metadata metadata, ServerCallHandler<A, B> next) {
    return new SimpleForwardingServerCallListener<>(next.startCall(call, metadata)) {
      private boolean refused;

      @Override
      public void onMessage(A message) {
        if (message instanceof HealthCheckRequest request
            && request.getService().length() > MAX_LENGTH) {
          refused = true;
          call.close(
              Status.INVALID_ARGUMENT.withDescription(
                  "service: "
                      + request.getService().length()
                      + " characters (expected: at most "
                      + MAX_LENGTH
                      + ")"),
              new Metadata());
        } else {
          super.onMessage(message);
        }
      }

      @Override
      public void onHalfClose() {
        if (!refused) {
          super.onHalfClose();
        }
      }
    };
  }
}
