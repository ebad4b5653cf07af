package dev.weir.server;

import dev.weir.server.proto.v1.WeirProto.CheckBatchRequest;
import dev.weir.server.proto.v1.WeirProto.CheckBatchResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/**
 * One stream of batches: a request is asked for, decided and answered before the next one is asked
 * for, and that only when the client has taken what came before. So the answers keep their order,
 * and a client that does not read holds up nobody but itself.
 *
 * <p>The store may answer on a thread of its own while the client closes its side: all turns are
 * taken under a lock.
 */
final class CheckStream implements StreamObserver<CheckBatchRequest> {
  private enum Turn {
    /** The client has no room for more answers. */
    WAITING,
    /** The next request is asked for. */
    ASKED,
    /** A request has come and has no answer yet. */
    DECIDING,
    /** All is said. */
    OVER
  }

  private final Decider decider;
  private final ServerCallStreamObserver<CheckBatchResponse> call;
  private Turn turn = Turn.WAITING;
  private boolean noMore;

  private CheckStream(Decider decider, ServerCallStreamObserver<CheckBatchResponse> call) {
    this.decider = decider;
    this.call = call;
  }

  static CheckStream begin(Decider decider, ServerCallStreamObserver<CheckBatchResponse> call) {
    CheckStream stream = new CheckStream(decider, call);
    call.disableAutoRequest();
    call.setOnReadyHandler(stream::ask);
    call.setOnCancelHandler(stream::over);
    return stream;
  }

  private synchronized void ask() {
    if (turn == Turn.WAITING && call.isReady()) {
      turn = Turn.ASKED;
      call.request(1);
    }
  }

  private synchronized void over() {
    turn = Turn.OVER;
  }

  @Override
  public void onNext(CheckBatchRequest message) {
    synchronized (this) {
      turn = Turn.DECIDING;
    }
    try {
      WeirMessages.batch(message).decide(decider, GrpcReply.to(call, this::answer));
    } catch (BadRequest e) {
      over();
      call.onError(WeirService.refusal(e));
    }
  }

  private synchronized void answer(CheckBatch.Results results) {
    if (turn == Turn.OVER) {
      return; // Nobody is there any more.
    }
    call.onNext(WeirMessages.response(results));
    turn = Turn.WAITING;
    if (noMore) {
      complete();
    } else {
      ask();
    }
  }

  /** The client has sent all that it wants to ask. */
  @Override
  public synchronized void onCompleted() {
    noMore = true;
    if (turn == Turn.WAITING || turn == Turn.ASKED) {
      complete();
    }
  }

  private synchronized void complete() {
    turn = Turn.OVER;
    call.onCompleted();
  }

  @Override
  public void onError(Throwable error) {
    over();
  }
}
