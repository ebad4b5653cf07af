package dev.weir.server.grpc;

import dev.weir.http.BadRequest;
import dev.weir.http.CheckBatch;
import dev.weir.server.door.GuardedDecider;
import dev.weir.server.proto.v1.WeirProto.CheckBatchRequest;
import dev.weir.server.proto.v1.WeirProto.CheckBatchResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/**
 * One stream of batches: the next request is read only when the one before is answered and the
 * client has read the answers before. So answers keep their order, and a client that does not read
 * holds up only itself.
 *
 * <p>The store may answer on a thread of its own while the client closes its side: all changes of
 * state are made under a lock.
 */
public final class CheckStream implements StreamObserver<CheckBatchRequest> {
  private enum Turn {
    /** The client has no room for more answers. */
    WAITING,
    /** The server waits for the next request. */
    ASKED,
    /** A request has arrived and has no answer yet. */
    DECIDING,
    /** The stream has ended. */
    OVER
  }

  private final GuardedDecider decider;
  private final ServerCallStreamObserver<CheckBatchResponse> call;
  private Turn turn = Turn.WAITING;
  private boolean noMore;

  private CheckStream(GuardedDecider decider, ServerCallStreamObserver<CheckBatchResponse> call) {
    this.decider = decider;
    this.call = call;
  }

  static CheckStream begin(
      GuardedDecider decider, ServerCallStreamObserver<CheckBatchResponse> call) {
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
      decider.decideAll(WeirMessages.batch(message), GrpcReply.to(call, this::answer));
    } catch (BadRequest e) {
      over();
      call.onError(WeirService.refusal(e));
    }
  }

  private synchronized void answer(CheckBatch.Results results) {
    if (turn == Turn.OVER) {
      return; // The client has gone.
    }
    call.onNext(WeirMessages.response(results));
    turn = Turn.WAITING;
    if (noMore) {
      complete();
    } else {
      ask();
    }
  }

  /** The client has sent its last request. */
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
