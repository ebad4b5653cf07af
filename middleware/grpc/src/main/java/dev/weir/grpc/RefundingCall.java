package dev.weir.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Set;

/** An admitted call whose permits are given back unless it ends with one of the given codes. */
final class RefundingCall<A, B> extends SimpleForwardingServerCall<A, B> {
  private final Set<Status.Code> counted;
  private final Runnable giveBack;

  RefundingCall(ServerCall<A, B> call, Set<Status.Code> counted, Runnable giveBack) {
    super(call);
    this.counted = counted;
    this.giveBack = giveBack;
  }

  /**
   * Closes the call. A call that is cancelled, or fails without closing, never comes here: it stays
   * charged.
   */
  @Override
  public void close(Status status, Metadata trailers) {
    super.close(status, trailers);
    if (!counted.contains(status.getCode())) {
      giveBack.run();
    }
  }
}
