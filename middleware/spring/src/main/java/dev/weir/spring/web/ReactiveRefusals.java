package dev.weir.spring.web;

import dev.weir.http.Refusal;
import dev.weir.http.Verdict;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The answers to refused requests, which pages of other origins may read like other answers. */
final class ReactiveRefusals {
  private final ReactiveCors cors;
  private final @Nullable ReactiveExceptions exceptions;

  /**
   * @param exceptions passes refusals to the application's own handling of errors; null to answer
   *     here
   */
  ReactiveRefusals(ReactiveCors cors, @Nullable ReactiveExceptions exceptions) {
    this.cors = cors;
    this.exceptions = exceptions;
  }

  /** Refuses a request whose handler has not been looked up. */
  Mono<Void> refuseEarly(ServerWebExchange exchange, Verdict verdict) {
    ReactiveExceptions early = exceptions;
    Mono<Void> answer =
        early == null
            ? Mono.defer(() -> answer(exchange, verdict))
            : Mono.defer(() -> early.refuse(exchange, RefusalExceptions.of(verdict)));
    return cors.apply(exchange).then(answer);
  }

  /** Refuses a request in its handler. */
  Mono<Void> refuse(ServerWebExchange exchange, Verdict verdict) {
    return exceptions != null
        ? Mono.error(() -> RefusalExceptions.of(verdict))
        : Mono.defer(() -> answer(exchange, verdict));
  }

  private static Mono<Void> answer(ServerWebExchange exchange, Verdict verdict) {
    ServerHttpResponse response = exchange.getResponse();
    Refusal refusal = verdict.refusal();
    response.setStatusCode(HttpStatusCode.valueOf(verdict.status()));
    verdict.fields(response.getHeaders()::add);
    response.getHeaders().set(HttpHeaders.CONTENT_TYPE, refusal.contentType());
    response.getHeaders().setContentLength(refusal.length());
    return HttpMethod.HEAD.equals(exchange.getRequest().getMethod())
        ? response.setComplete()
        : response.writeWith(Mono.just(response.bufferFactory().wrap(refusal.bytes())));
  }
}
