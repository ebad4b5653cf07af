package dev.weir.spring.web;

import java.util.List;
import java.util.function.Supplier;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.reactive.CorsConfigurationSource;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.cors.reactive.DefaultCorsProcessor;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The fields by which pages of other origins may read a refusal, as far as the application allows
 * them to read its answers. It uses the application's own sources; if those have no settings, it
 * uses the mappings of handlers, which apply theirs when a handler is looked up.
 */
final class ReactiveCors {
  private final List<CorsConfigurationSource> sources;
  private final Supplier<List<HandlerMapping>> mappings;
  private final DefaultCorsProcessor processor = new DefaultCorsProcessor();

  ReactiveCors(List<CorsConfigurationSource> sources, Supplier<List<HandlerMapping>> mappings) {
    this.sources = sources;
    this.mappings = mappings;
  }

  /** Adds fields to the response, and may set a status. */
  Mono<Void> apply(ServerWebExchange exchange) {
    if (!CorsUtils.isCorsRequest(exchange.getRequest())
        || CorsUtils.isPreFlightRequest(exchange.getRequest())) {
      return Mono.empty();
    }
    for (CorsConfigurationSource source : sources) {
      CorsConfiguration found = source.getCorsConfiguration(exchange);
      if (found != null) {
        boolean unused = processor.process(found, exchange);
        return Mono.empty();
      }
    }
    return Flux.fromIterable(mappings.get())
        .concatMap(mapping -> mapping.getHandler(exchange))
        .next()
        .onErrorComplete()
        .then();
  }
}
