package dev.weir.vertx;

import dev.weir.identity.RequestView;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.auth.User;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.RoutingContext;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request to Vert.x Web in the form that a limiter reads. */
final class RoutedRequest implements RequestView {
  private final RoutingContext routing;
  private final HttpServerRequest request;

  RoutedRequest(RoutingContext routing) {
    this.routing = routing;
    this.request = routing.request();
  }

  @Override
  public @Nullable String peer() {
    // Not the request's address: that is taken from a header if the router allows it.
    SocketAddress address = request.connection().remoteAddress();
    return address == null || address.isDomainSocket() ? null : address.hostAddress();
  }

  @Override
  public boolean unixSocket() {
    SocketAddress address = request.connection().remoteAddress();
    SocketAddress local = request.connection().localAddress();
    return (address != null && address.isDomainSocket())
        || (local != null && local.isDomainSocket());
  }

  @Override
  public List<String> headers(String name) {
    return request.headers().getAll(name);
  }

  @Override
  public String method() {
    return request.method().name();
  }

  /**
   * Returns the path in the form that routes match: normalized, and a slash at its end does not
   * matter.
   */
  @Override
  public String path() {
    String path = routing.normalizedPath();
    int end = path.length();
    while (end > 1 && path.charAt(end - 1) == '/') {
      end--;
    }
    return decoded(path.substring(0, end));
  }

  /**
   * Returns a decoded path in which an encoded slash stays encoded: for Vert.x it does not separate
   * segments.
   */
  private static String decoded(String path) {
    if (path.indexOf('%') < 0) {
      return path;
    }
    String kept = path.replace("+", "%2B").replace("%2F", "%252F").replace("%2f", "%252F");
    try {
      return URLDecoder.decode(kept, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return path;
    }
  }

  @Override
  public @Nullable String host() {
    HostAndPort authority = request.version() == HttpVersion.HTTP_2 ? request.authority() : null;
    return authority == null ? RequestView.super.host() : authority.toString();
  }

  @Override
  public @Nullable String queryText() {
    return request.query();
  }

  @Override
  public @Nullable String login() {
    User user = routing.user();
    return user == null ? null : user.subject();
  }

  @Override
  public @Nullable String route() {
    Route route = routing.currentRoute();
    String path = route == null ? null : route.getPath();
    if (path == null) {
      return null;
    }
    String pattern = route.isExactPath() || path.endsWith("*") ? path : path + "*";
    String mount = routing.mountPoint();
    if (mount == null || mount.equals("/")) {
      return pattern;
    }
    return mount.endsWith("/") ? mount.substring(0, mount.length() - 1) + pattern : mount + pattern;
  }
}
