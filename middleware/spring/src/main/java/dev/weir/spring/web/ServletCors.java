package dev.weir.spring.web;

import dev.weir.http.Verdict;
import dev.weir.servlet.RefusalHandler;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.cors.DefaultCorsProcessor;

/**
 * The fields by which pages of other origins may read a refusal, as far as the application allows
 * them to read its answers: the filter may answer before the application's own handling of such
 * requests. It uses the application's own sources, and the settings of Spring MVC's handlers.
 */
final class ServletCors implements RefusalHandler {
  private final List<CorsConfigurationSource> sources;
  private final RefusalHandler refusals;
  private final DefaultCorsProcessor processor = new DefaultCorsProcessor();

  ServletCors(List<CorsConfigurationSource> sources, RefusalHandler refusals) {
    this.sources = sources;
    this.refusals = refusals;
  }

  @Override
  public void refuse(HttpServletRequest request, HttpServletResponse response, Verdict verdict)
      throws IOException, ServletException {
    String origin = request.getHeader(HttpHeaders.ORIGIN);
    if (origin != null && CorsUtils.isCorsRequest(request)) {
      CorsConfiguration allowed = configuration(request);
      // The processor would itself answer requests that are not allowed.
      if (allowed != null
          && allowed.checkOrigin(origin) != null
          && allowed.checkHttpMethod(HttpMethod.valueOf(request.getMethod())) != null
          && !CorsUtils.isPreFlightRequest(request)) {
        boolean unused = processor.processRequest(allowed, request, response);
      }
    }
    refusals.refuse(request, response, verdict);
  }

  private @Nullable CorsConfiguration configuration(HttpServletRequest request) {
    for (CorsConfigurationSource source : sources) {
      CorsConfiguration found = source.getCorsConfiguration(request);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
