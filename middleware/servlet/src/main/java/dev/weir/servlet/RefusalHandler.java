package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Answers a request that is refused. Must be safe for use by many threads.
 *
 * @see RateLimitFilter.Builder#refusals
 */
@FunctionalInterface
public interface RefusalHandler {
  /**
   * Answers the request, with whatever {@link Verdict#status}, {@link Verdict#fields} and {@link
   * Verdict#refusal} say, or in another way. The header fields of the verdict are not yet among
   * those of the response.
   *
   * @param response not committed; of a request that has waited, the container's own, because what
   *     the filters have wrapped around it is done with by then
   */
  void refuse(HttpServletRequest request, HttpServletResponse response, Verdict verdict)
      throws IOException, ServletException;

  /**
   * Returns the handler that sends what the service's {@code /v1/check} sends, in the form that the
   * client prefers. It reads and discards what the client still sends, up to 8 MiB and for up to 5
   * seconds: a container that closes a connection while the client sends may destroy the answer.
   */
  static RefusalHandler standard() {
    return StandardRefusal.INSTANCE;
  }
}
