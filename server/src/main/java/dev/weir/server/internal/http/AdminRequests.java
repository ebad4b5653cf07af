package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.admin.AdminCaller;
import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.server.internal.guard.DoorCounters;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of the port for administration, answered on threads that may wait. Safe for use by
 * many threads.
 */
public final class AdminRequests implements Requests {
  private static final byte[] NONE = {};

  private final AdminHandler handler;
  private final AdminWorkers workers;
  private final AdminConnections connections;
  private final Ticker ticker;

  /**
   * Creates the handler of a port.
   *
   * @param counters the counts of the port's connections
   * @param ticker measures the time for which a client has not read
   */
  public AdminRequests(
      AdminHandler handler, AdminWorkers workers, DoorCounters counters, Ticker ticker) {
    this.handler = handler;
    this.workers = workers;
    connections = new AdminConnections(counters);
    this.ticker = ticker;
  }

  @Override
  public void opened(HttpConnection connection, Runnable close) {
    connections.opened(connection, close);
  }

  @Override
  public void closed(HttpConnection connection) {
    connections.closed(connection);
  }

  /** Refuses nothing: a head shows already whether its connection is that of a valid token. */
  @Override
  public @Nullable HttpProblem refusal(HttpServerRequest head) {
    AdminCaller caller = handler.caller(toAdminRequest(head, NONE));
    if (caller.isKnown()) {
      connections.authorized(head.connection());
    }
    return null;
  }

  @Override
  public void answer(HttpServerRequest request, byte[] body, Wait wait) {
    AdminRequest asked = toAdminRequest(request, body);
    AdminExchange exchange =
        new AdminExchange(
            request,
            this::handle,
            workers,
            handler.caller(asked),
            new AdminExchange.Times(wait, ticker));
    exchange.begin(asked, body.length);
  }

  private AdminResponse handle(AdminRequest asked, HttpConnection connection) {
    AdminResponse answer = handler.handle(asked);
    // Tokens that the head was compared with may have been older than this one.
    if (handler.caller(asked).isKnown()) {
      connections.authorized(connection);
    }
    return answer;
  }

  /**
   * Returns a request for the handler. HEAD becomes GET: it has the same fields, but the body is
   * not sent.
   */
  private static AdminRequest toAdminRequest(HttpServerRequest request, byte[] body) {
    HttpMethod method = request.method();
    Map<String, List<String>> fields = new HashMap<>();
    for (Map.Entry<String, String> field : request.headers()) {
      fields
          .computeIfAbsent(field.getKey().toLowerCase(Locale.ROOT), name -> new ArrayList<>(1))
          .add(field.getValue());
    }
    fields.replaceAll((name, values) -> List.copyOf(values));
    String path = request.path();
    String query = request.query();
    SocketAddress source = request.remoteAddress();
    return new AdminRequest(
        method.equals(HttpMethod.HEAD) ? "GET" : method.name(),
        path == null ? "" : path,
        query == null ? "" : query,
        fields,
        new ByteArrayInputStream(body),
        source == null || source.hostAddress() == null ? "" : source.hostAddress(),
        request.isSSL());
  }
}
