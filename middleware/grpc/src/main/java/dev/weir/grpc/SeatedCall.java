package dev.weir.grpc;

import dev.weir.engine.seats.RequestSeat;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import java.util.concurrent.atomic.AtomicBoolean;

/** An admitted call that holds seats until it has ended. Safe for use by many threads. */
final class SeatedCall {
  /*
   * Which event is the end? gRPC calls exactly one of onComplete and onCancel, also for a call that
   * its application never closes, and neither if the start throws. The close of the call is no end:
   * the handler may still be at work. So permits that a status gives back wait for the end, too;
   * with them the call would lose its seat.
   */
  private final RequestSeat seat;
  private final Runnable refund;
  private final AtomicBoolean refundDue = new AtomicBoolean();

  SeatedCall(RequestSeat seat, Runnable refund) {
    this.seat = seat;
    this.refund = refund;
  }

  /** Starts the call. */
  <A, B> ServerCall.Listener<A> start(
      ServerCall<A, B> call, Metadata headers, ServerCallHandler<A, B> next) {
    try {
      return new EndListener<>(next.startCall(call, headers), this);
    } catch (RuntimeException | Error e) {
      end();
      throw e;
    }
  }

  /** Gives back the permits when the call has ended. */
  void refundAtEnd() {
    refundDue.set(true);
    if (seat.hasEnded()) {
      refundIfDue();
    }
  }

  private void end() {
    seat.end();
    refundIfDue();
  }

  private void refundIfDue() {
    if (refundDue.compareAndSet(true, false)) {
      refund.run();
    }
  }

  private static final class EndListener<A> extends SimpleForwardingServerCallListener<A> {
    private final SeatedCall call;

    EndListener(ServerCall.Listener<A> listener, SeatedCall call) {
      super(listener);
      this.call = call;
    }

    @Override
    public void onComplete() {
      try {
        super.onComplete();
      } finally {
        call.end();
      }
    }

    @Override
    public void onCancel() {
      try {
        super.onCancel();
      } finally {
        call.end();
      }
    }
  }
}
