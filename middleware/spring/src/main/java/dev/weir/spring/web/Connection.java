package dev.weir.spring.web;

import jakarta.servlet.http.HttpServletRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.ClassUtils;
import reactor.netty.http.server.HttpServerRequest;

/** The connection of a WebFlux request, unchanged by filters and the server. */
interface Connection {
  /** Returns the address of the other end, or null if there is none. */
  @Nullable String peer();

  /** Returns all lines of a header field. */
  List<String> headers(String name);

  default boolean unixSocket() {
    return false;
  }

  /** Returns the client's address if the server has found it behind proxies that it trusts. */
  default @Nullable String finalAddress() {
    return null;
  }

  static Connection of(ServerHttpRequest request) {
    Object own = nativeRequest(request);
    if (Present.NETTY && own instanceof HttpServerRequest netty) {
      return new Netty(netty);
    } else if (Present.SERVLET && own instanceof HttpServletRequest servlet) {
      return new Servlet(servlet);
    }
    return new Plain(request);
  }

  private static @Nullable Object nativeRequest(ServerHttpRequest request) {
    try {
      return ServerHttpRequestDecorator.<Object>getNativeRequest(request);
    } catch (IllegalArgumentException | IllegalStateException e) {
      return null; // It is a request of a test, or of a server of its own.
    }
  }

  private static @Nullable String text(@Nullable SocketAddress address) {
    InetAddress known =
        address instanceof InetSocketAddress internet ? internet.getAddress() : null;
    return known == null ? null : known.getHostAddress();
  }

  /** The servers that may be on the class path. */
  final class Present {
    static final boolean NETTY = is("reactor.netty.http.server.HttpServerRequest");
    static final boolean SERVLET = is("jakarta.servlet.http.HttpServletRequest");

    private Present() {}

    private static boolean is(String type) {
      return ClassUtils.isPresent(type, Connection.class.getClassLoader());
    }
  }

  /**
   * A connection of Reactor Netty: remoteAddress() may come from a header, this address does not.
   */
  record Netty(HttpServerRequest request) implements Connection {
    @Override
    public @Nullable String peer() {
      return text(request.connectionRemoteAddress());
    }

    @Override
    public boolean unixSocket() {
      SocketAddress address = request.connectionRemoteAddress();
      return address != null && !(address instanceof InetSocketAddress);
    }

    @Override
    public List<String> headers(String name) {
      return request.requestHeaders().getAll(name);
    }
  }

  /**
   * A connection in a servlet container; if it is Tomcat, it may have found the client by itself.
   */
  record Servlet(HttpServletRequest request) implements Connection {
    private static final String FORWARDED = "org.apache.tomcat.request.forwarded";

    @Override
    public @Nullable String peer() {
      return request.getRemoteAddr();
    }

    @Override
    public @Nullable String finalAddress() {
      return Boolean.TRUE.equals(request.getAttribute(FORWARDED)) ? request.getRemoteAddr() : null;
    }

    @Override
    public List<String> headers(String name) {
      return Collections.list(request.getHeaders(name));
    }
  }

  /** A connection of another server, where nothing changes the values of the exchange. */
  record Plain(ServerHttpRequest request) implements Connection {
    @Override
    public @Nullable String peer() {
      return text(request.getRemoteAddress());
    }

    @Override
    public List<String> headers(String name) {
      List<String> lines = new ArrayList<>();
      request
          .getHeaders()
          .forEach(
              (field, values) -> {
                if (field.equalsIgnoreCase(name)) {
                  lines.addAll(values);
                }
              });
      return lines;
    }
  }
}
