package dev.weir.spring.web;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The path from refusals to the application's own handling of exceptions, as if a handler had
 * thrown them. For this, the dispatcher only needs a mapping that fails for refused requests. A
 * refusal without a handler is an error of the filter.
 */
final class ReactiveExceptions implements HandlerMapping, Ordered {
  private static final String REFUSAL = ReactiveExceptions.class.getName();

  private final ObjectProvider<DispatcherHandler> dispatcher;

  ReactiveExceptions(ObjectProvider<DispatcherHandler> dispatcher) {
    this.dispatcher = dispatcher;
  }

  /**
   * Passes a refusal to the application, without the filters and the handler that would come next.
   */
  Mono<Void> refuse(ServerWebExchange exchange, RuntimeException refusal) {
    DispatcherHandler found = dispatcher.getIfAvailable();
    if (found == null) {
      return Mono.error(refusal);
    }
    exchange.getAttributes().put(REFUSAL, refusal);
    return found.handle(exchange);
  }

  @Override
  public Mono<Object> getHandler(ServerWebExchange exchange) {
    return exchange.getAttribute(REFUSAL) instanceof RuntimeException refusal
        ? Mono.error(refusal)
        : Mono.empty();
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
