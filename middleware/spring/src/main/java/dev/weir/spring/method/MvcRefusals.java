package dev.weir.spring.method;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;

/**
 * The answers to refusals that no {@code @ExceptionHandler} of the application takes. Without it
 * Spring sends the status and the fields, but the application's error page in place of the body.
 */
final class MvcRefusals implements WebMvcConfigurer, HandlerExceptionResolver {
  @Override
  public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
    int place = 0;
    for (int i = 0; i < resolvers.size(); i++) {
      if (resolvers.get(i) instanceof ExceptionHandlerExceptionResolver) {
        place = i + 1;
      }
    }
    resolvers.add(place, this);
  }

  @Override
  public @Nullable ModelAndView resolveException(
      HttpServletRequest request,
      HttpServletResponse response,
      @Nullable Object handler,
      Exception exception) {
    if (!(exception instanceof WebRateLimitExceededException refusal) || response.isCommitted()) {
      return null;
    }
    byte[] body = refusal.json();
    response.setStatus(refusal.getStatusCode().value());
    refusal.fields(response::setHeader, response::addHeader);
    response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    response.setContentLength(body.length);
    try {
      response.getOutputStream().write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // The client has gone.
    }
    return new ModelAndView();
  }
}
