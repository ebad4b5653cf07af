package dev.weir.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * The search for the end of a request: the chain has returned and the request is not asynchronous,
 * or its asynchronous part has ended. What is to be done then may be done more than once.
 */
final class RequestEnd implements AsyncListener {
  /*
   * Which event is the end? Containers differ, as was measured. Tomcat calls onComplete twice if an
   * asynchronous dispatch ends in sendError, the first time before the error page. Jetty calls
   * onError and never onComplete if an HTTP/2 client resets an answer that has begun. So the first
   * of the two counts. After onTimeout the application may still be at work.
   *
   * Each start of asynchronous work drops the listeners of the one before, so the listener is added
   * again each time. Why the request is wrapped for it, see Settlement.
   */

  private final Runnable whenEnded;
  private volatile boolean listening;

  RequestEnd(Runnable whenEnded) {
    this.whenEnded = whenEnded;
  }

  /** Returns the request for the rest of the chain. */
  HttpServletRequest watch(HttpServletRequest request) {
    return new WatchedRequest(request, this);
  }

  /** Records that the chain has returned, or has thrown an exception. */
  void returned(HttpServletRequest request) {
    if (!listening && request.isAsyncStarted()) { // By the container's own request.
      listen(request.getAsyncContext());
    } else if (!listening) {
      whenEnded.run();
    }
  }

  private AsyncContext listen(AsyncContext context) {
    listening = true;
    context.addListener(this);
    return context;
  }

  @Override
  public void onComplete(AsyncEvent event) {
    whenEnded.run();
  }

  @Override
  public void onError(AsyncEvent event) {
    whenEnded.run();
  }

  @Override
  public void onTimeout(AsyncEvent event) {
    // The container or the application answers, and then onComplete is called.
  }

  @Override
  public void onStartAsync(AsyncEvent event) {
    listen(event.getAsyncContext());
  }

  private static final class WatchedRequest extends HttpServletRequestWrapper {
    private final RequestEnd end;

    WatchedRequest(HttpServletRequest request, RequestEnd end) {
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
