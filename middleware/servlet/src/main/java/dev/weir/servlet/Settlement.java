package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * The search for the outcome with which a request is answered: known as soon as the head of the
 * response is sent, at once or later.
 */
final class Settlement extends AsyncEnd {
  /*
   * Why is the response wrapped? A stream of events sends its head and then stays open, for hours
   * perhaps; its status is known from the head on. No event of the container reports that, so each
   * write and flush is followed by the question whether the response is committed.
   */

  private static final int SERVER_ERROR = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;

  private final HttpServletResponse response;
  private final Verdict verdict;
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
      ended();
    }
  }

  /** Records that the chain has returned, or has thrown an exception. */
  void returned(HttpServletRequest request, boolean thrown) {
    sent();
    if (thrown) {
      verdict.responded(SERVER_ERROR);
    } else {
      returned(request);
    }
  }

  @Override
  void ended() {
    verdict.responded(response.getStatus(), response.getHeader("Location"));
  }

  @Override
  public void onError(AsyncEvent event) {
    // The container or the application answers, and then onComplete is called.
  }
}
