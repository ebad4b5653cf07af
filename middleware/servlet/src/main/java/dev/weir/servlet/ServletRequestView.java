package dev.weir.servlet;

import dev.weir.identity.RequestView;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A servlet request in the form that templates read. */
final class ServletRequestView implements RequestView {
  /*
   * Two requests are read. The data of the connection, which is the peer and the headers, comes
   * from the innermost one: filters before this one, such as Spring's ForwardedHeaderFilter, wrap
   * it with values from a header, which any client can write. The data of the application, which is
   * method, path and login, comes from the outermost one: security wraps it with the user who is
   * logged in.
   *
   * Tomcat's RemoteIpValve and RemoteIpFilter walk X-Forwarded-For in the same way as Weir, and
   * remove the addresses that they have used; to walk the rest would trust the client. Both leave
   * the attribute FORWARDED behind. The valve changes the innermost request; the filter wraps it,
   * and then only an attribute for access logs has the address.
   */

  /** The attribute that Tomcat sets if it has found the client behind proxies that it trusts. */
  private static final String FORWARDED = "org.apache.tomcat.request.forwarded";

  /** The attribute with the client's address that Tomcat found, for its access log. */
  private static final String FORWARDED_ADDRESS = "org.apache.catalina.AccessLog.RemoteAddr";

  private final HttpServletRequest outer;
  private final HttpServletRequest innermost;
  private final Function<? super HttpServletRequest, @Nullable String> login;

  ServletRequestView(
      HttpServletRequest request, Function<? super HttpServletRequest, @Nullable String> login) {
    this.outer = request;
    this.login = login;
    ServletRequest inner = request;
    while (inner instanceof ServletRequestWrapper wrapper) {
      inner = wrapper.getRequest();
    }
    this.innermost = inner instanceof HttpServletRequest http ? http : request;
  }

  @Override
  public @Nullable String peer() {
    return innermost.getRemoteAddr();
  }

  @Override
  public @Nullable String finalAddress() {
    if (!Boolean.TRUE.equals(innermost.getAttribute(FORWARDED))) {
      return null;
    }
    return innermost.getAttribute(FORWARDED_ADDRESS) instanceof String address
        ? address
        : innermost.getRemoteAddr();
  }

  @Override
  public List<String> headers(String name) {
    Enumeration<String> lines = innermost.getHeaders(name);
    return lines == null || !lines.hasMoreElements() ? List.of() : Collections.list(lines);
  }

  @Override
  public String method() {
    return outer.getMethod();
  }

  @Override
  public String path() {
    try {
      String servlet = outer.getServletPath();
      String rest = outer.getPathInfo();
      String path = rest == null ? servlet : servlet + rest;
      return path.isEmpty() ? "/" : path;
    } catch (IllegalArgumentException e) {
      return outer.getRequestURI(); // In Jetty, a path that can be read in two ways.
    }
  }

  @Override
  public @Nullable String host() {
    String host = RequestView.super.host();
    // HTTP/2 has the authority elsewhere, and not every container makes it a header.
    return host != null || innermost.getProtocol().startsWith("HTTP/1")
        ? host
        : innermost.getServerName();
  }

  @Override
  public @Nullable String queryText() {
    return innermost.getQueryString();
  }

  @Override
  public @Nullable String login() {
    return login.apply(outer);
  }
}
