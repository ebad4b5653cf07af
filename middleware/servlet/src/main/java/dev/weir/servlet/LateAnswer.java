package dev.weir.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;

/** A waiting request that takes no thread: it is dispatched when its turn comes, or refused. */
final class LateAnswer implements AsyncListener {
  private final WaitingRequest waiting;
  private final AsyncContext context;
  private final HttpServletRequest request;
  private final HttpServletResponse response;

  private LateAnswer(
      WaitingRequest waiting,
      AsyncContext context,
      HttpServletRequest request,
      HttpServletResponse response) {
    this.waiting = waiting;
    this.context = context;
    this.request = request;
    this.response = response;
  }

  /** Returns the thread to the container; the request and its wrappers stay unchanged. */
  static void start(
      WaitingRequest waiting, HttpServletRequest request, HttpServletResponse response) {
    AsyncContext context = request.startAsync(request, response);
    LateAnswer answer = new LateAnswer(waiting, context, request, response);
    context.addListener(answer);
    waiting.whenUnwound(answer::decided);
  }

  /** Runs on the container's thread, or on one that must not be blocked. */
  private void decided(Optional<WaitingRequest.Turn> refused) {
    try {
      if (refused.isPresent()) {
        if (waiting.refuse()) {
          refuseOnContainersThread(refused.get());
        }
      } else if (waiting.release()) {
        waiting.fields(response::addHeader);
        context.dispatch();
      }
    } catch (RuntimeException e) {
      waiting.abandon(); // The container has ended the request meanwhile, or is being stopped.
      failed();
      complete();
    }
  }

  private void refuseOnContainersThread(WaitingRequest.Turn turn) {
    if (waiting.isUnwinding()) {
      refuse(turn);
    } else {
      context.start(() -> refuse(turn));
    }
  }

  private void refuse(WaitingRequest.Turn turn) {
    try {
      turn.refusals().refuse(request, innermost(), turn.refusal());
    } catch (IOException e) {
      // The client has gone.
    } catch (ServletException | RuntimeException e) {
      request.getServletContext().log("a refusal could not be answered", e);
      failed();
    } finally {
      complete();
    }
  }

  private void failed() {
    try {
      innermost().sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
    } catch (IOException | RuntimeException e) {
      // It is committed, or the client has gone.
    }
  }

  private void complete() {
    try {
      context.complete();
    } catch (IllegalStateException e) {
      // The container has completed it.
    }
  }

  private HttpServletResponse innermost() {
    ServletResponse inner = response;
    while (inner instanceof ServletResponseWrapper wrapper) {
      inner = wrapper.getResponse();
    }
    return inner instanceof HttpServletResponse http ? http : response;
  }

  @Override
  public void onTimeout(AsyncEvent event) {
    WaitingRequest.Turn turn = waiting.pending();
    if (waiting.refuse()) {
      refuse(turn);
    }
  }

  @Override
  public void onError(AsyncEvent event) {
    waiting.end();
    waiting.ended();
  }

  @Override
  public void onComplete(AsyncEvent event) {
    waiting.end();
    waiting.ended();
  }

  /** The application's own start, after the wait, which drops the listeners. */
  @Override
  public void onStartAsync(AsyncEvent event) {
    event.getAsyncContext().addListener(this);
  }
}
