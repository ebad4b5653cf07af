package dev.weir.grpc;

import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.internal.RememberedRefusals;
import dev.weir.rules.Request;
import io.grpc.Attributes;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client's call that is decided before it is sent. The actions of the application until then are
 * held back.
 */
final class LimitedClientCall<A, B> extends ClientCall<A, B> {
  /*
   * When is a call decided? When it is started, not when its last message is there: a stream may
   * never half-close. Usually it may be sent at once, and start() starts the real call. Otherwise
   * start() returns, and the call goes on, or ends, on the executor of its options: the application
   * expects to be called there, and a blocking stub waits. The thread of a store or a timer only
   * passes control.
   *
   * If a call is cancelled, or its deadline passes, before it is sent, it is not sent, and its
   * charge is given back. Once it is sent, its outcome is the server's.
   */

  private static final long NANOS_PER_MILLI = 1_000_000;

  private enum State {
    NEW,
    ASKING,
    SENT,
    OVER
  }

  private final RateLimitClientInterceptor limits;
  private final ClientCall<A, B> delegate;
  private final String method;
  private final @Nullable String authority;
  private final @Nullable Deadline deadline;
  private final Executor executor;
  private final Context context = Context.current();
  private final Context.CancellationListener contextListener = cancelled -> contextCancelled();
  private final EventQueue<ClientCall<A, B>> calls = new EventQueue<>();

  // Set by start().
  private Listener<B> listener = new Listener<>() {};
  private Metadata headers = new Metadata();
  private Request request = Request.of("");
  private long startNanos;

  private volatile @Nullable RequestSeat seat;

  // Guarded by this.
  private State state = State.NEW;
  private @Nullable Turn turn;
  private Ticker.ScheduledTask wake = () -> {};
  private Ticker.ScheduledTask deadlineCheck = () -> {};
  private long sentNanos;

  /**
   * @param deadline the deadline of the call's options
   * @param executor the executor on which the application is called
   */
  LimitedClientCall(
      RateLimitClientInterceptor limits,
      ClientCall<A, B> delegate,
      String method,
      @Nullable String authority,
      @Nullable Deadline deadline,
      Executor executor) {
    this.limits = limits;
    this.delegate = delegate;
    this.method = method;
    this.authority = authority;
    this.deadline = deadline;
    this.executor = executor;
  }

  @Override
  public void start(Listener<B> newListener, Metadata newHeaders) {
    synchronized (this) {
      if (state == State.NEW) {
        state = State.ASKING;
      } else {
        throw new IllegalStateException("call: started or cancelled (expected: neither)");
      }
    }
    listener = newListener;
    headers = newHeaders;
    startNanos = limits.ticker.nanos();
    CallDescriptors.Made made =
        limits.descriptors.of(new CallView(method, headers, authority, null, () -> null));
    request = made.request();
    if (made.missing() != null) {
      end(Refusal.missing(made.missing()));
    } else if (!decide(true)) {
      context.addListener(contextListener, Runnable::run);
      if (!isDeciding()) {
        context.removeListener(contextListener); // It has gone on in the meantime.
      }
      checkDeadline();
    }
  }

  private void decideLater() {
    later(() -> decide(false));
  }

  /**
   * Decides the call, or waits until it can be decided.
   *
   * @param starting true if the application's start() runs this
   * @return whether the call has an answer
   */
  private boolean decide(boolean starting) {
    RememberedRefusals.Refusal remembered =
        limits.refusals.size() == 0 ? null : limits.refusals.find(key());
    if (remembered != null) {
      long now = limits.ticker.nanos();
      long wait = Math.max(0, remembered.untilNanos() - now);
      if (wait > waitNanos()) {
        end(Refusal.remembered(method, ceilMillis(Math.max(0, remembered.statedNanos() - now))));
        return true;
      }
      synchronized (this) {
        if (state == State.ASKING) {
          wake = limits.ticker.schedule(wait, this::decideLater);
        }
      }
      return false;
    }
    Decider decider = limits.decider;
    if (decider == null || request.descriptors().isEmpty()) {
      send(starting);
      return true;
    }
    Turn asking =
        new Turn(
            decider,
            request,
            this::waitNanos,
            answer -> {
              if (!later(() -> answered(own(), answer, false))) {
                own().giveBack(answer);
              }
            });
    synchronized (this) {
      if (state != State.ASKING) {
        return true;
      }
      turn = asking;
    }
    Answer answer = asking.decide();
    if (answer == null) {
      return false;
    }
    answered(asking, answer, starting);
    return true;
  }

  private synchronized Turn own() {
    if (turn == null) {
      throw new IllegalStateException("turn: none (expected: one, as it has answered)");
    }
    return turn;
  }

  private void answered(Turn asked, Answer answer, boolean starting) {
    if (!answer.allowed()) {
      end(Refusal.of(request, answer, null)); // No retry of gRPC's sees it.
      return;
    }
    // gRPC ends a call at once if it is sent too late.
    boolean tooLate = deadline != null && deadline.isExpired();
    seat = limits.seats == null ? null : limits.seats.take(request, answer, method);
    boolean sent = false;
    try {
      sent = send(starting);
    } finally {
      if (!sent) {
        endSeat();
      }
    }
    if (!sent || tooLate) {
      asked.giveBack(answer);
    }
  }

  private void endSeat() {
    RequestSeat held = seat;
    if (held != null) {
      held.end();
    }
  }

  /** Sends the call, unless it is over; returns whether it was sent. */
  private boolean send(boolean starting) {
    synchronized (this) {
      if (state != State.ASKING) {
        return false;
      }
      state = State.SENT;
      sentNanos = limits.ticker.nanos();
      unschedule();
    }
    Listener<B> remembering = new RefusalListener(listener);
    if (starting) {
      calls.open(delegate); // Nothing is held back yet.
      delegate.start(remembering, headers);
      return true;
    }
    context.removeListener(contextListener);
    HeldListener<B> held = new HeldListener<>();
    try {
      delegate.start(held, headers);
    } catch (RuntimeException e) {
      calls.openWithout(new NoCall<>());
      listener.onClose(Status.fromThrowable(e), new Metadata());
      return false;
    }
    calls.open(delegate);
    held.open(remembering);
    return true;
  }

  /** Ends a call that is not sent, unless it is sent or over already. */
  private void end(Refusal refusal) {
    end(refusal.status(), refusal.trailers());
  }

  private void end(Status status, Metadata trailers) {
    Turn left;
    synchronized (this) {
      if (state != State.ASKING) {
        return;
      }
      state = State.OVER;
      unschedule();
      left = turn;
    }
    if (left != null) {
      left.leave();
    }
    context.removeListener(contextListener);
    calls.openWithout(new NoCall<>());
    Runnable tell = () -> listener.onClose(status, trailers);
    try {
      executor.execute(context.wrap(tell));
    } catch (RejectedExecutionException e) {
      tell.run(); // A call that never ends is worse than one that ends on another thread.
    }
  }

  /**
   * Runs a step on the call's executor; if the executor has ended, ends the call and returns false.
   */
  private boolean later(Runnable step) {
    try {
      executor.execute(context.wrap(step));
      return true;
    } catch (RejectedExecutionException e) {
      end(Status.CANCELLED.withDescription("executor: ended").withCause(e), new Metadata());
      return false;
    }
  }

  /** Cancels the timers of a call that is sent or over. The lock is held. */
  private void unschedule() {
    wake.cancel();
    deadlineCheck.cancel();
  }

  private synchronized long sentNanos() {
    return sentNanos;
  }

  private synchronized boolean isDeciding() {
    return state == State.ASKING;
  }

  private long key() {
    return limits.keys.key(authority, method, request.descriptors());
  }

  /** Returns the time for which the call may still wait. */
  private long waitNanos() {
    long left = limits.maxWaitNanos - (limits.ticker.nanos() - startNanos);
    Deadline inherited = context.getDeadline();
    for (Deadline each : new @Nullable Deadline[] {deadline, inherited}) {
      left = each == null ? left : Math.min(left, each.timeRemaining(TimeUnit.NANOSECONDS));
    }
    return left;
  }

  /** Ends the call at its deadline, unless it has been sent: then gRPC does. */
  private void checkDeadline() {
    if (deadline == null) {
      return;
    }
    long left = deadline.timeRemaining(TimeUnit.NANOSECONDS);
    if (left > 0) {
      synchronized (this) {
        if (state == State.ASKING) {
          deadlineCheck = limits.ticker.schedule(left, this::checkDeadline);
        }
      }
    } else {
      end(
          Status.DEADLINE_EXCEEDED.withDescription(
              "The deadline passed before the call was let through to be sent."),
          new Metadata());
    }
  }

  private void contextCancelled() {
    Status status = Contexts.statusFromCancelled(context);
    end(status == null ? Status.CANCELLED : status, new Metadata());
  }

  private static long ceilMillis(long nanos) {
    return nanos / NANOS_PER_MILLI + (nanos % NANOS_PER_MILLI > 0 ? 1 : 0);
  }

  @Override
  public void cancel(@Nullable String message, @Nullable Throwable cause) {
    synchronized (this) {
      if (state == State.NEW) {
        state = State.OVER; // It was not started and cannot be any more.
        return;
      }
    }
    end(Status.CANCELLED.withDescription(message).withCause(cause), new Metadata());
    calls.run(call -> call.cancel(message, cause));
  }

  @Override
  public void request(int messages) {
    calls.run(call -> call.request(messages));
  }

  @Override
  public void halfClose() {
    calls.run(ClientCall::halfClose);
  }

  @Override
  public void sendMessage(A message) {
    calls.run(call -> call.sendMessage(message));
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    calls.run(call -> call.setMessageCompression(enabled));
  }

  @Override
  public boolean isReady() {
    ClientCall<A, B> sent = calls.target();
    return sent != null && sent.isReady();
  }

  @Override
  public Attributes getAttributes() {
    ClientCall<A, B> sent = calls.target();
    return sent == null ? Attributes.EMPTY : sent.getAttributes();
  }

  /** The listener that records the server's refusals, and the end of one. */
  private final class RefusalListener extends SimpleForwardingClientCallListener<B> {
    RefusalListener(Listener<B> application) {
      super(application);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      endSeat();
      if (status.getCode() == Status.Code.RESOURCE_EXHAUSTED) {
        limits.refusals.add(key(), status.getCode().value(), Retry.nanos(trailers));
      } else if (status.isOk() && limits.refusals.size() > 0) {
        limits.refusals.forget(key(), sentNanos());
      }
      super.onClose(status, trailers);
    }
  }
}
