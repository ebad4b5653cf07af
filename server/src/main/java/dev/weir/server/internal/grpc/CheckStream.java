package dev.weir.server.internal.grpc;

import dev.weir.protocol.http.BadRequest;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One stream of requests. The next request is read only when the last one is answered and the
 * client has read the earlier answers. So answers keep their order, and a client that does not read
 * holds up only itself.
 *
 * <p>The store may answer on a thread of its own while the client closes its side: so all changes
 * of state are made under a lock.
 *
 * @param <Q> the type of its requests
 * @param <A> the type of its answers
 */
final class CheckStream<Q, A> implements StreamObserver<Q> {
  /** The source of answers, which may come later and on any thread. */
  interface Answers<Q, A> {
    /**
     * Answers one request.
     *
     * @param done receives the answer, or null if there is nothing to send
     * @throws BadRequest if the whole request is malformed
     */
    void answer(Q request, Consumer<@Nullable A> done) throws BadRequest;

    /** Frees the resources of the stream, which has ended; may be called more than once. */
    default void ended() {}
  }

  private enum Turn {
    /** The state in which the client has no room for more answers. */
    WAITING,
    /** The state in which the server waits for the next request. */
    ASKED,
    /** The state in which a request has arrived and has no answer yet. */
    DECIDING,
    /** The state in which the stream has ended. */
    OVER
  }

  private final Answers<Q, A> answers;
  private final ServerCallStreamObserver<A> call;
  private Turn turn = Turn.WAITING;
  private boolean noMore;

  private CheckStream(Answers<Q, A> answers, ServerCallStreamObserver<A> call) {
    this.answers = answers;
    this.call = call;
  }

  static <Q, A> CheckStream<Q, A> begin(Answers<Q, A> answers, ServerCallStreamObserver<A> call) {
    CheckStream<Q, A> stream = new CheckStream<>(answers, call);
    call.disableAutoRequest();
    call.setOnReadyHandler(stream::decide);
    call.setOnCancelHandler(stream::over);
    return stream;
  }

  private synchronized void decide() {
    if (turn == Turn.WAITING && call.isReady()) {
      turn = Turn.ASKED;
      call.request(1);
    }
  }

  private synchronized void over() {
    turn = Turn.OVER;
    answers.ended();
  }

  @Override
  public void onNext(Q message) {
    synchronized (this) {
      turn = Turn.DECIDING;
    }
    try {
      answers.answer(message, GrpcReply.to(call, this::answer));
    } catch (BadRequest e) {
      over();
      call.onError(WeirService.refusal(e));
    }
  }

  private synchronized void answer(@Nullable A answer) {
    if (turn == Turn.OVER) {
      return; // The client has gone.
    }
    if (answer != null) {
      call.onNext(answer);
    }
    turn = Turn.WAITING;
    if (noMore) {
      complete();
    } else {
      decide();
    }
  }

  /** Records that the client has sent its last request. */
  @Override
  public synchronized void onCompleted() {
    noMore = true;
    if (turn == Turn.WAITING || turn == Turn.ASKED) {
      complete();
    }
  }

  private synchronized void complete() {
    turn = Turn.OVER;
    answers.ended();
    call.onCompleted();
  }

  @Override
  public void onError(Throwable error) {
    over();
  }
}
