package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.Source;
import java.security.Principal;
import java.util.Optional;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * A filter of the properties, in an application of Spring WebFlux. Each subscription is a request:
 * it is decided before the chain is called, and no thread is blocked.
 */
final class ReactiveLimit implements WebFilter, Ordered {
  private final RequestLimiter limiter;
  private final ReactiveRefusals refusals;
  private final boolean enabled;
  private final int order;

  ReactiveLimit(int index, Limiters limiters, ReactiveTrust trust, ReactiveRefusals refusals) {
    this.limiter = limiters.limiter(index);
    this.refusals = refusals;
    this.enabled = limiters.enabled();
    this.order = limiters.order(index, limiter);
    trust.check(limiter);
  }

  @Override
  public int getOrder() {
    return order;
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    if (!enabled) {
      return chain.filter(exchange);
    }
    return login(exchange)
        .flatMap(login -> limit(exchange, chain, new ExchangeView(exchange, login.orElse(null))));
  }

  private Mono<Optional<String>> login(ServerWebExchange exchange) {
    if (!limiter.uses(Source.LOGIN)) {
      return Mono.just(Optional.empty());
    }
    return exchange
        .<Principal>getPrincipal()
        .filter(KnownUsers::isKnown)
        .map(user -> Optional.of(user.getName()))
        .defaultIfEmpty(Optional.empty());
  }

  private Mono<Void> limit(ServerWebExchange exchange, WebFilterChain chain, ExchangeView view) {
    PendingVerdict pending = new PendingVerdict();
    return Mono.defer(() -> pending.decide(limiter, view))
        .flatMap(
            verdict ->
                verdict.passes() || verdict.maxWaitNanos() <= 0
                    ? Mono.just(verdict)
                    : pending.queue(verdict))
        .flatMap(
            verdict -> pending.claim() ? proceed(exchange, chain, verdict) : Mono.<Void>empty())
        .doOnCancel(pending::giveUp);
  }

  private Mono<Void> proceed(ServerWebExchange exchange, WebFilterChain chain, Verdict verdict) {
    if (!verdict.passes()) {
      return refusals.refuse(exchange, verdict);
    }
    ServerHttpResponse response = exchange.getResponse();
    // What handles errors may do so after this filter has ended, and may set fields anew.
    response.beforeCommit(
        () -> {
          verdict.fields(response.getHeaders()::add);
          HttpStatusCode status = response.getStatusCode();
          verdict.responded(status == null ? 200 : status.value());
          return Mono.empty();
        });
    return chain.filter(exchange);
  }
}
