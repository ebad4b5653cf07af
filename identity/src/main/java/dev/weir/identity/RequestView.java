package dev.weir.identity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A view of one request, without the types of an HTTP library. Texts are as the client sent them,
 * and must not be trusted.
 *
 * <p>An adapter must implement {@link #peer}, {@link #headers}, {@link #method} and {@link #path};
 * it should override the other methods whose values its library has. Values are read when a
 * template needs them, on the thread that fills it.
 */
public interface RequestView {
  /**
   * Returns the address of the connection's other end as the container has it, for example {@code
   * 10.0.0.1} or {@code fe80::1%eth0}; null if it is unknown. It must be the address of the
   * connection itself, not one that a filter or container has taken from a header: for that, see
   * {@link #finalAddress}.
   */
  @Nullable String peer();

  /** Returns whether the connection is a Unix domain socket, which has no address. */
  default boolean unixSocket() {
    return false;
  }

  /**
   * Returns the client's address if the container has already found it behind trusted proxies, as
   * Tomcat's {@code RemoteIpValve} does; else null. It is the client, whatever the headers contain:
   * reading further left in the rest of them would trust a client's own text.
   */
  default @Nullable String finalAddress() {
    return null;
  }

  /**
   * Returns all lines of a header field in the order in which they arrived; none if there are none.
   * Lines are not split at commas.
   *
   * @param name in any case
   */
  List<String> headers(String name);

  /** Returns the method, for example {@code GET}. */
  String method();

  /** Returns the path, decoded and without matrix parameters, as the application matches it. */
  String path();

  /** Returns the authority: a host with or without a port. By default the only Host header. */
  default @Nullable String host() {
    return RequestTexts.only(headers("Host"));
  }

  /** Returns the query, encoded and without its question mark; null if there is none. */
  default @Nullable String queryText() {
    return null;
  }

  /**
   * Returns a query parameter, decoded; null if it is absent or present several times. An adapter
   * must not read the request's body for it. By default read from {@link #queryText}.
   */
  default @Nullable String query(String name) {
    return RequestTexts.query(queryText(), name);
  }

  /**
   * Returns a cookie's value; null if it is absent or present several times. By default read from
   * the Cookie headers.
   */
  default @Nullable String cookie(String name) {
    return RequestTexts.cookie(headers("Cookie"), name);
  }

  /**
   * Returns the name of the authenticated user; null before authentication and for anonymous
   * requests. A name that was not checked is no login.
   */
  default @Nullable String login() {
    return null;
  }

  /**
   * Returns the pattern that the path matched, for example {@code /users/{id}}; null if unknown.
   */
  default @Nullable String route() {
    return null;
  }
}
