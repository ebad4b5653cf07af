package dev.weir.http.client;

import dev.weir.http.outgoing.OutgoingRequest;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A request of the JDK's client. */
record JdkRequest(HttpRequest request) implements OutgoingRequest {
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  @Override
  public String method() {
    return request.method();
  }

  @Override
  public String host() {
    String host = request.uri().getHost();
    if (host == null) {
      return "";
    }
    // An IPv6 address is between brackets in a URI, and is a host without them.
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    return bare.toLowerCase(Locale.ROOT);
  }

  @Override
  public int port() {
    URI uri = request.uri();
    if (uri.getPort() >= 0) {
      return uri.getPort();
    }
    return "https".equalsIgnoreCase(uri.getScheme()) ? HTTPS_PORT : HTTP_PORT;
  }

  @Override
  public String path() {
    String path = request.uri().getPath();
    return path == null || path.isEmpty() ? "/" : path;
  }

  @Override
  public @Nullable String queryText() {
    return request.uri().getRawQuery();
  }

  @Override
  public List<String> headers(String name) {
    return request.headers().allValues(name);
  }
}
