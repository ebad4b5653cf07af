package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * A handler that answers refused requests. Must be safe for use by many threads.
 *
 * @see RateLimitFilter.Builder#refusals
 */
@FunctionalInterface
public interface RefusalHandler {
  /**
   * Answers the request with {@link Verdict#status}, {@link Verdict#fields} and {@link
   * Verdict#refusal}, or in another way. The response does not have the header fields of the
   * verdict yet.
   *
   * @param response not committed; for a request that has waited, the container's own, because the
   *     filters' wrappers around it have ended by then
   */
  void refuse(HttpServletRequest request, HttpServletResponse response, Verdict verdict)
      throws IOException, ServletException;

  /**
   * Returns the handler that sends the same answer as the service's {@code /v1/check}, in the form
   * that the client prefers. It reads and discards the rest of the client's body, up to 8 MiB and
   * for up to 5 seconds: a container that closes a connection while the client sends may destroy
   * the answer.
   */
  static RefusalHandler standard() {
    return StandardRefusal.INSTANCE;
  }
}
