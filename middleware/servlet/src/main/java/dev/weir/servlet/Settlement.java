package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;

/**
 * The search for the outcome with which a request is answered: known as soon as the head of the
 * response is sent, at once or later.
 */
final class Settlement implements AsyncListener {
  /*
   * Why is the response wrapped? A stream of events sends its head and then stays open, for hours
   * perhaps; its status is known from the head on. No event of the container reports that, so each
   * write and flush is followed by the question whether the response is committed.
   *
   * Why is the request wrapped? Another thread may dispatch an asynchronous request before the
   * chain returns. From then on the container does not call it asynchronous any more, and its
   * status is not yet the final one. So the listener is added when the request becomes
   * asynchronous, and again each further time.
   */

  private static final int SERVER_ERROR = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;

  private final HttpServletResponse response;
  private final Verdict verdict;
  private volatile boolean listening;
  private volatile boolean committed;

  Settlement(HttpServletResponse response, Verdict verdict) {
    this.response = response;
    this.verdict = verdict;
  }

  /** Returns the response for the rest of the chain. */
  HttpServletResponse watch(HttpServletResponse sent) {
    return new WatchedResponse(sent, this);
  }

  /** Settles the status if the head of the response is sent. */
  void sent() {
    if (!committed && response.isCommitted()) {
      committed = true;
      responded();
    }
  }

  /** Returns the request for the rest of the chain. */
  HttpServletRequest watch(HttpServletRequest request) {
    return new WatchedRequest(request, this);
  }

  /** Records that the chain has returned, or has thrown an exception. */
  void returned(HttpServletRequest request, boolean thrown) {
    sent();
    if (thrown) {
      verdict.responded(SERVER_ERROR);
    } else if (!listening && request.isAsyncStarted()) { // By the container's own request.
      listen(request.getAsyncContext());
    } else if (!listening) {
      responded();
    }
  }

  private void responded() {
    verdict.responded(response.getStatus(), response.getHeader("Location"));
  }

  private AsyncContext listen(AsyncContext context) {
    listening = true;
    context.addListener(this);
    return context;
  }

  @Override
  public void onComplete(AsyncEvent event) {
    responded();
  }

  @Override
  public void onStartAsync(AsyncEvent event) {
    listen(event.getAsyncContext());
  }

  @Override
  public void onTimeout(AsyncEvent event) {
    // The container answers, and then calls onComplete.
  }

  @Override
  public void onError(AsyncEvent event) {
    // The same as above.
  }

  private static final class WatchedRequest extends HttpServletRequestWrapper {
    private final Settlement settlement;

    WatchedRequest(HttpServletRequest request, Settlement settlement) {
      super(request);
      this.settlement = settlement;
    }

    @Override
    public AsyncContext startAsync() {
      return settlement.listen(super.startAsync());
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
      return settlement.listen(super.startAsync(request, response));
    }
  }
}
