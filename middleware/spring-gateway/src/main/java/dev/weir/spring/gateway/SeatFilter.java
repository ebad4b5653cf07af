package dev.weir.spring.gateway;

import dev.weir.spring.web.ReactiveLimits;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * The filter around all others, at whose end a request has ended: the chain of a route is complete
 * at the head of the upstream's answer.
 */
final class SeatFilter implements WebFilter, Ordered {
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    return ReactiveLimits.untilEnd(chain.filter(exchange));
  }
}
