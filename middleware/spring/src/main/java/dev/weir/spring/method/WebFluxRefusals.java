package dev.weir.spring.method;

import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** The answers to refusals that no {@code @ExceptionHandler} of the application takes. */
final class WebFluxRefusals implements WebExceptionHandler {
  @Override
  public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
    ServerHttpResponse response = exchange.getResponse();
    if (!(failure instanceof WebRateLimitExceededException refusal) || response.isCommitted()) {
      return Mono.error(failure);
    }
    byte[] body = refusal.json();
    response.setStatusCode(refusal.getStatusCode());
    refusal.fields(response.getHeaders()::set, response.getHeaders()::add);
    response.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    response.getHeaders().setContentLength(body.length);
    return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
  }
}
