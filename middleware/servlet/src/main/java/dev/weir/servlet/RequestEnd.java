package dev.weir.servlet;

import jakarta.servlet.AsyncEvent;

/**
 * The search for the end of a request: the chain has returned and the request is not asynchronous,
 * or its asynchronous part has ended. What is to be done then may be done more than once.
 */
final class RequestEnd extends AsyncEnd {
  /*
   * Which event is the end? Containers differ, as was measured. Tomcat calls onComplete twice if an
   * asynchronous dispatch ends in sendError, the first time before the error page. Jetty calls
   * onError and never onComplete if an HTTP/2 client resets an answer that has begun. So the first
   * of the two counts. After onTimeout the application may still be at work.
   */

  private final Runnable whenEnded;

  RequestEnd(Runnable whenEnded) {
    this.whenEnded = whenEnded;
  }

  @Override
  void ended() {
    whenEnded.run();
  }

  @Override
  public void onError(AsyncEvent event) {
    ended();
  }
}
