package dev.weir.servlet;

import dev.weir.Ticker;
import dev.weir.http.Refusal;
import dev.weir.http.Verdict;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;

/** The handler that sends the answer of a verdict. Safe for use by many threads. */
final class StandardRefusal implements RefusalHandler {
  static final StandardRefusal INSTANCE = new StandardRefusal(Ticker.system());

  /*
   * Why is a body read that is not used? If a container closes a connection on which the client
   * still sends, its system answers with a reset. That destroys the part of the answer that the
   * client has not read yet: the refusal. Tomcat reads on for 2 MiB, Jetty only the bytes that have
   * arrived, and then they close: with a body of 7 MiB the client cannot send all, and gets no
   * answer. So this handler reads on between the header and the end of the answer: after that,
   * Tomcat 11 allows no reading. It is bounded by bytes and by time: a client that sends for ever
   * must not keep a thread. A client that requests permission to send (Expect: 100-continue) has
   * not sent anything, and reading would permit it.
   */

  /**
   * The most bytes of a body that are read and discarded: four times as many as by Tomcat itself.
   */
  static final long MAX_DISCARDED = 8L << 20;

  /** The longest time for that, in addition to the time that the container allows for one read. */
  static final long MAX_DISCARD_NANOS = 5_000_000_000L;

  private static final int BUFFER = 16 << 10;

  private final Ticker ticker;

  StandardRefusal(Ticker ticker) {
    this.ticker = ticker;
  }

  @Override
  public void refuse(HttpServletRequest request, HttpServletResponse response, Verdict verdict)
      throws IOException {
    Refusal refusal = verdict.refusal();
    response.setStatus(verdict.status());
    verdict.fields(response::addHeader);
    response.setContentType(refusal.contentType());
    response.setContentLength(refusal.length());
    if (sends(request)) {
      response.flushBuffer();
      discard(request.getInputStream());
    }
    if (!request.getMethod().equals("HEAD")) {
      response.getOutputStream().write(refusal.bytes());
    }
  }

  private static boolean sends(HttpServletRequest request) {
    boolean body =
        request.getContentLengthLong() > 0 || request.getHeader("Transfer-Encoding") != null;
    return body && request.getHeader("Expect") == null;
  }

  private void discard(InputStream body) {
    long end = ticker.nanos() + MAX_DISCARD_NANOS;
    byte[] buffer = new byte[BUFFER];
    long left = MAX_DISCARDED;
    try {
      while (left > 0 && ticker.nanos() - end < 0) {
        int read = body.read(buffer);
        if (read < 0) {
          return;
        }
        left -= read;
      }
    } catch (IOException e) {
      // The client has gone, and the answer is not read.
    }
  }
}
