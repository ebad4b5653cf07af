package dev.weir.spring.web;

import dev.weir.http.Verdict;
import dev.weir.servlet.RefusalHandler;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * The path from refusals to the application's own handling of exceptions, as if a handler had
 * thrown them. It answers the refusals that remain.
 */
final class ServletExceptions implements RefusalHandler {
  private final HandlerExceptionResolver resolver;
  private final RefusalHandler otherwise = RefusalHandler.standard();

  ServletExceptions(HandlerExceptionResolver resolver) {
    this.resolver = resolver;
  }

  @Override
  public void refuse(HttpServletRequest request, HttpServletResponse response, Verdict verdict)
      throws IOException, ServletException {
    RuntimeException refusal = RefusalExceptions.of(verdict);
    ModelAndView view = resolver.resolveException(request, response, null, refusal);
    if (view == null) {
      otherwise.refuse(request, response, verdict);
    } else if (!view.isEmpty()) {
      throw refusal; // The error handling of the container makes a page of its own.
    }
  }
}
