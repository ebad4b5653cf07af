package dev.weir.server.internal.http;

import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/** What is behind a port: answers its requests. Called on event loops. */
public interface Requests {
  /** Tells what an answer waits for. For the request's event loop. */
  interface Wait {
    /** The client has to read what was sent, within the request timeout. */
    void forClient();

    /** The server is at work, for as long as that takes. */
    void forServer();
  }

  /** Returns why a request is refused before its body arrives, or null. */
  default @Nullable HttpProblem refusal(HttpServerRequest head) {
    return null;
  }

  /** Returns what answers usual requests of HTTP/1.1 on one event loop; null if nothing does. */
  default @Nullable Quick quick() {
    return null;
  }

  /**
   * Answers a request whose body is complete, now or later.
   *
   * @param wait for answers that take longer than the request timeout
   */
  void answer(HttpServerRequest request, byte[] body, Wait wait);
}
