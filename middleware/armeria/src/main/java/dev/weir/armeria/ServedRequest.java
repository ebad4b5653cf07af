package dev.weir.armeria;

import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.util.DomainSocketAddress;
import com.linecorp.armeria.server.Route;
import com.linecorp.armeria.server.ServiceRequestContext;
import dev.weir.identity.RequestView;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request to Armeria in the form that a limiter reads. */
final class ServedRequest implements RequestView {
  private final ServiceRequestContext context;
  private final HttpRequest request;
  private final Function<? super ServiceRequestContext, @Nullable String> login;

  ServedRequest(
      ServiceRequestContext context,
      HttpRequest request,
      Function<? super ServiceRequestContext, @Nullable String> login) {
    this.context = context;
    this.request = request;
    this.login = login;
  }

  @Override
  public @Nullable String peer() {
    InetSocketAddress remote = context.remoteAddress();
    InetAddress address = remote instanceof DomainSocketAddress ? null : remote.getAddress();
    return address == null ? null : address.getHostAddress();
  }

  @Override
  public boolean unixSocket() {
    return context.remoteAddress() instanceof DomainSocketAddress;
  }

  @Override
  public List<String> headers(String name) {
    return request.headers().getAll(name);
  }

  @Override
  public String method() {
    return request.method().name();
  }

  @Override
  public String path() {
    return context.decodedPath();
  }

  @Override
  public @Nullable String host() {
    return request.authority();
  }

  @Override
  public @Nullable String queryText() {
    return context.query();
  }

  @Override
  public @Nullable String login() {
    return login.apply(context);
  }

  @Override
  public @Nullable String route() {
    Route route = context.config().route();
    return route.isFallback() ? null : route.patternString();
  }
}
