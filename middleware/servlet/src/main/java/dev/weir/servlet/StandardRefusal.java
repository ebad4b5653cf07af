package dev.weir.servlet;

import dev.weir.Ticker;
import dev.weir.http.Refusal;
import dev.weir.http.Verdict;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;

/** Sends what a verdict says. Safe for use by many threads. */
final class StandardRefusal implements RefusalHandler {
  static final StandardRefusal INSTANCE = new StandardRefusal(Ticker.system());

  /*
   * Why is a body read that nobody wants? A container that closes a connection on which the client
   * still sends has its system answer with a reset, and that destroys what the client has not read
   * yet: the refusal. Tomcat reads on for 2 MiB, Jetty for what has arrived, and then they close: of
   * a body of 7 MiB the client cannot send all, and gets no answer. So this reads on between the
   * header and the last of the answer: after that, Tomcat 11 lets nobody read. It is bounded by bytes
   * and by time: a client that sends for ever must not keep a thread. A client that asks for leave to
   * send (Expect: 100-continue) has not sent, and to read would give it leave.
   */

  /** What is read and discarded of a body at most: four times what Tomcat does by itself. */
  static final long MAX_DISCARDED = 8L << 20;

  /** For how long, besides what the container lets one read take. */
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
      // The client is gone, and nobody reads the answer.
    }
  }
}
