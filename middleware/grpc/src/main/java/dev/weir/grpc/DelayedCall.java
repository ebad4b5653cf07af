package dev.weir.grpc;

import dev.weir.engine.Answer;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A server's call that is decided later. Until then the application does not see it: none of its
 * messages is read, and its events are held back.
 */
final class DelayedCall<A> extends ServerCall.Listener<A> {
  /*
   * On which thread does the call start? The answer comes on a thread of the store's, which must
   * not run the application, and gRPC has no method that runs a task on a call's own executor. So
   * the call starts on an executor of the interceptor's, which also runs the events held back
   * meanwhile. Once nothing is left, gRPC's own thread passes events on by itself (EventQueue), as for
   * every call.
   */

  private static final Status ENDED =
      Status.UNAVAILABLE.withDescription("The server ends, and starts no more calls.");

  private final ServerCall<A, ?> call;
  private final BiFunction<Turn, Answer, ServerCall.Listener<A>> start;
  private final Executor executor;
  private final Context context = Context.current();
  private final EventQueue<ServerCall.Listener<A>> events = new EventQueue<>();
  private @Nullable Turn turn;

  // Guarded by this.
  private boolean cancelled;
  private boolean started;

  /**
   * @param start starts the call, or refuses it, by the answer
   */
  DelayedCall(
      ServerCall<A, ?> call,
      BiFunction<Turn, Answer, ServerCall.Listener<A>> start,
      Executor executor) {
    this.call = call;
    this.start = start;
    this.executor = executor;
  }

  /** Sets the turn, before it is decided. */
  void turn(Turn newTurn) {
    turn = newTurn;
  }

  /** Takes an answer on the store's thread. */
  void decided(Answer answer) {
    try {
      executor.execute(context.wrap(() -> begin(answer)));
    } catch (RejectedExecutionException e) {
      giveBack(answer);
      call.close(ENDED, new Metadata());
    }
  }

  private void begin(Answer answer) {
    boolean gone;
    synchronized (this) {
      gone = cancelled;
      started = !gone;
    }
    if (gone) {
      giveBack(answer);
      return;
    }
    ServerCall.Listener<A> listener = new ServerCall.Listener<>() {};
    try {
      listener = start.apply(own(), answer);
      events.open(listener);
    } catch (RuntimeException | Error e) {
      events.openWithout(listener);
      fail(e);
      throw e;
    }
  }

  /** Closes a call whose application has failed, as gRPC does on its own threads. */
  private void fail(Throwable failure) {
    Metadata trailers = Status.trailersFromThrowable(failure);
    try {
      call.close(Status.fromThrowable(failure), trailers == null ? new Metadata() : trailers);
    } catch (IllegalStateException e) {
      failure.addSuppressed(e); // The application closed it before it failed.
    }
  }

  private void giveBack(Answer answer) {
    own().giveBack(answer);
  }

  private Turn own() {
    if (turn == null) {
      throw new IllegalStateException("turn: none (expected: set before it asks)");
    }
    return turn;
  }

  @Override
  public void onMessage(A message) {
    events.run(listener -> listener.onMessage(message));
  }

  @Override
  public void onHalfClose() {
    events.run(ServerCall.Listener::onHalfClose);
  }

  @Override
  public void onReady() {
    events.run(ServerCall.Listener::onReady);
  }

  @Override
  public void onComplete() {
    events.run(ServerCall.Listener::onComplete);
  }

  @Override
  public void onCancel() {
    boolean heard;
    synchronized (this) {
      cancelled = true;
      heard = started;
    }
    if (heard) {
      events.run(ServerCall.Listener::onCancel);
    } else {
      own().leave();
      events.openWithout(new ServerCall.Listener<>() {});
    }
  }
}
