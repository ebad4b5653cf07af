package dev.weir.server.internal.http;

import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import org.jspecify.annotations.Nullable;

/** The handler of a port's requests. Called on event loops. */
public interface Requests {
  /** The side that an answer waits for. For the request's event loop. */
  interface Wait {
    /** Waits for the client, which has to read the sent bytes within the request timeout. */
    void forClient();

    /** Waits for the server, for as long as its work takes. */
    void forServer();
  }

  /**
   * Receives a new connection, before there is room for it.
   *
   * @param close closes it, from any thread
   */
  default void opened(HttpConnection connection, Runnable close) {}

  /** Receives the end of a connection. */
  default void closed(HttpConnection connection) {}

  /** Returns the reason why a request is refused before its body arrives, or null. */
  default @Nullable HttpProblem refusal(HttpServerRequest head) {
    return null;
  }

  /**
   * Returns the quick path for usual requests of HTTP/1.1 on one event loop; null if there is none.
   */
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
