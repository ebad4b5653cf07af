package dev.weir.spring.web;

import dev.weir.identity.RequestView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;

/**
 * A request of WebFlux in the form that templates read. The peer and the headers are those of the
 * server's own request: Spring's ForwardedHeaderTransformer changes the values of the exchange.
 */
final class ExchangeView implements RequestView {
  private final ServerHttpRequest request;
  private final Connection connection;
  private final @Nullable String login;
  private final @Nullable String route;

  ExchangeView(ServerWebExchange exchange, @Nullable String login, @Nullable String route) {
    this.request = exchange.getRequest();
    this.connection = Connection.of(request);
    this.login = login;
    this.route = route;
  }

  @Override
  public @Nullable String peer() {
    return connection.peer();
  }

  @Override
  public boolean unixSocket() {
    return connection.unixSocket();
  }

  @Override
  public @Nullable String finalAddress() {
    return connection.finalAddress();
  }

  @Override
  public List<String> headers(String name) {
    return connection.headers(name);
  }

  @Override
  public String method() {
    return request.getMethod().name();
  }

  @Override
  public String path() {
    StringBuilder path = new StringBuilder();
    for (PathContainer.Element each : request.getPath().pathWithinApplication().elements()) {
      path.append(
          each instanceof PathContainer.PathSegment segment
              ? segment.valueToMatch()
              : each.value());
    }
    return path.isEmpty() ? "/" : path.toString();
  }

  @Override
  public @Nullable String queryText() {
    return request.getURI().getRawQuery();
  }

  @Override
  public @Nullable String login() {
    return login;
  }

  @Override
  public @Nullable String route() {
    return route;
  }
}
