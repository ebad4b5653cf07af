package dev.weir.spring.gateway;

import dev.weir.spring.web.ReactiveLimits;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The resolver of a request's key, which is the address of its client, by the properties {@code
 * weir.client-address}: without trusted proxies it is the connection's other end, whatever the
 * headers contain. There always is an address or a text in its place, so no request is refused for
 * lack of a key. Safe for use by many threads.
 */
public final class WeirKeyResolver implements KeyResolver {
  private final ReactiveLimits limits;

  /**
   * Makes a resolver.
   *
   * @throws IllegalStateException if the server takes addresses from headers that clients write
   */
  public WeirKeyResolver(ReactiveLimits limits) {
    this.limits = limits;
    limits.check(limits.builder().descriptor("ip={ip}").build());
  }

  @Override
  public Mono<String> resolve(ServerWebExchange exchange) {
    return Mono.fromSupplier(() -> limits.client(exchange).key());
  }
}
