package dev.weir.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/** A listener for the end of a request, which may be asynchronous. */
abstract class AsyncEnd implements AsyncListener {
  /*
   * Why is the request wrapped? Another thread may dispatch an asynchronous request before the
   * chain returns. From then on the container does not call it asynchronous any more, and it has
   * not ended yet. So the listener is added when the request becomes asynchronous, and again each
   * further time: each start of asynchronous work drops the listeners of the one before.
   */

  private volatile boolean listening;

  /** Handles the end of the request; may be called more than once. */
  abstract void ended();

  /** Returns the request for the rest of the chain. */
  final HttpServletRequest watch(HttpServletRequest request) {
    return new WatchedRequest(request, this);
  }

  /** Records that the chain has returned: the end, unless the request is asynchronous. */
  final void returned(HttpServletRequest request) {
    if (!listening && request.isAsyncStarted()) { // By the container's own request.
      listen(request.getAsyncContext());
    } else if (!listening) {
      ended();
    }
  }

  private AsyncContext listen(AsyncContext context) {
    listening = true;
    context.addListener(this);
    return context;
  }

  @Override
  public final void onStartAsync(AsyncEvent event) {
    listen(event.getAsyncContext());
  }

  @Override
  public final void onComplete(AsyncEvent event) {
    ended();
  }

  @Override
  public final void onTimeout(AsyncEvent event) {
    // The container or the application answers, and then onComplete is called.
  }

  private static final class WatchedRequest extends HttpServletRequestWrapper {
    private final AsyncEnd end;

    WatchedRequest(HttpServletRequest request, AsyncEnd end) {
      super(request);
      this.end = end;
    }

    @Override
    public AsyncContext startAsync() {
      return end.listen(super.startAsync());
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
      return end.listen(super.startAsync(request, response));
    }
  }
}
