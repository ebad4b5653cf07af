package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import org.springframework.core.Ordered;
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
  private final ReactiveLimits limits;
  private final int order;

  ReactiveLimit(int index, Limiters limiters, ReactiveLimits limits) {
    this.limiter = limiters.limiter(index);
    this.limits = limits;
    this.order = limiters.order(index, limiter);
    limits.check(limiter);
  }

  @Override
  public int getOrder() {
    return order;
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    return limits.limit(limiter, exchange, null, () -> chain.filter(exchange));
  }
}
