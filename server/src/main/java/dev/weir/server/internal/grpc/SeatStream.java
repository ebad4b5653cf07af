package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import dev.weir.engine.seats.SeatAnswer;
import dev.weir.engine.seats.SeatOutcome;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.v1.WeirProto.AcquireRequest;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.SeatCall;
import dev.weir.server.internal.guard.UndecidedBytes;
import dev.weir.shared.Clocks;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A seat that is held as long as a stream is open: renewed by this server, and given back when the
 * client ends the stream or is gone. Safe for use by many threads.
 */
final class SeatStream {
  /*
   * When is a client gone? When its connection is: a client that vanishes without closing it is
   * noticed by the server's keepalive, and until then the seat is held. A server that dies renews
   * no more, so the seat is lost after its hold. While the store does not answer, the stream ends
   * before the hold does: by the clocks of a holder, which count a hundredth less.
   *
   * A stream lasts as long as its client likes. So it counts in the budget of bytes of clients, and
   * ends at the first renewal after its token was removed.
   */

  /** The number of renewals in a hold: so one or two of them may fail. */
  private static final int RENEWALS = 3;

  /** Approximate size of this and of its scheduled renewal; the connection counts the stream. */
  private static final long OWN_BYTES = 500;

  private final GuardedDecider decider;
  private final ServerCallStreamObserver<AcquireResponse> observer;
  private final GrpcStream stream;
  private final Clocks clocks;
  private Clocks.Instant until;
  private String seat = "";
  private long holdNanos;
  private boolean over;
  private Ticker.@Nullable ScheduledTask next;

  SeatStream(
      GuardedDecider decider,
      ServerCallStreamObserver<AcquireResponse> observer,
      GrpcStream stream) {
    this.decider = decider;
    this.observer = observer;
    this.stream = stream;
    this.clocks = new Clocks(decider.ticker(), Ticker.wall());
    this.until = clocks.now();
  }

  void begin(AcquireRequest message) {
    observer.setOnCancelHandler(this::end); // The client has ended the stream, or is gone.
    try {
      Request request = WeirMessages.request(message.getCheck(), "check");
      Clocks.Instant sent = clocks.now();
      decider.acquire(
          request,
          () -> UndecidedBytes.CALL_BYTES,
          GrpcReply.to(observer, taken -> answer(request, taken, sent)));
    } catch (BadRequest e) {
      observer.onError(
          Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException());
    }
  }

  private void answer(Request request, SeatAnswer taken, Clocks.Instant sent) {
    boolean gone;
    synchronized (this) {
      gone = over;
      seat = taken.seat();
      holdNanos = taken.holdNanos();
      until = sent.plus(holdNanos - holdNanos / 100);
    }
    if (gone) {
      release(taken.seat());
      return;
    }
    stream.keep(OWN_BYTES + taken.seat().length());
    observer.onNext(SeatMessages.response(request, taken));
    if (taken.seat().isEmpty()) {
      observer.onCompleted();
    } else {
      renewLater();
    }
  }

  private void renewLater() {
    boolean ended;
    synchronized (this) {
      if (over || holdNanos == 0) {
        return;
      }
      long left = clocks.until(until);
      ended = left <= 0;
      if (!ended) {
        long wait = Math.min(holdNanos / RENEWALS, left);
        next = decider.ticker().schedule(wait, this::renew);
      }
    }
    if (ended) {
      lost();
    }
  }

  private void renew() {
    if (!stream.authorized()) {
      if (end()) {
        observer.onError(Admission.WRONG_TOKEN.asRuntimeException());
      }
      return;
    }
    String held;
    synchronized (this) {
      if (over) {
        return;
      }
      held = seat;
    }
    Clocks.Instant sent = clocks.now();
    decider.seats(
        SeatCall.RENEW,
        List.of(held),
        () -> UndecidedBytes.CALL_BYTES,
        GrpcReply.to(observer, outcomes -> renewed(outcomes.get(0), sent)));
  }

  private void renewed(SeatOutcome outcome, Clocks.Instant sent) {
    if (outcome == SeatOutcome.LOST) {
      lost();
      return;
    }
    if (outcome == SeatOutcome.DONE) {
      synchronized (this) {
        until = sent.plus(holdNanos - holdNanos / 100);
      }
    }
    renewLater();
  }

  private void lost() {
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
    }
    observer.onError(
        Status.ABORTED
            .withDescription("seat: lost (expected: a new request)")
            .asRuntimeException());
  }

  /** Gives the seat back. Returns whether this call has ended the stream. */
  private boolean end() {
    String held;
    synchronized (this) {
      if (over) {
        return false;
      }
      over = true;
      held = seat;
      if (next != null) {
        next.cancel();
      }
    }
    release(held);
    return true;
  }

  private void release(String held) {
    if (!held.isEmpty()) {
      decider.seats(
          SeatCall.RELEASE, List.of(held), () -> UndecidedBytes.CALL_BYTES, outcomes -> {});
    }
  }
}
